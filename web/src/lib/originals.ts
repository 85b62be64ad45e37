import { useQuery } from '@tanstack/react-query'
import { ApiError, type KnowledgeFile, tokenOf } from './api.ts'

/** Larger ones are not loaded into the page; they can be downloaded. */
const maxShownBytes = { pdf: 64 * 1024 * 1024, text: 4 * 1024 * 1024 }

/** How a file can be shown: its pages, or its text as what it is. Of other files the passage is shown. */
export type OriginalKind = 'pdf' | 'markdown' | 'table' | 'text' | 'none'

const kinds: Record<string, OriginalKind> = {
  pdf: 'pdf',
  md: 'markdown',
  markdown: 'markdown',
  csv: 'table',
  tsv: 'table',
}
const textEndings =
  /\.(txt|text|log|json|jsonl|xml|yaml|yml|toml|ini|py|js|ts|tsx|jsx|java|go|rs|c|h|cpp|cs|rb|php|sql|sh|css|tex|rst)$/i

export function kindOf({ name, size }: Pick<KnowledgeFile, 'name' | 'size'>): OriginalKind {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const kind = kinds[ending] ?? (textEndings.test(name) ? 'text' : 'none')
  return size > (kind === 'pdf' ? maxShownBytes.pdf : maxShownBytes.text) ? 'none' : kind
}

export const useOriginal = (assistantId: string, fileId: string, isWanted: boolean) =>
  useQuery({
    queryKey: ['original', fileId],
    enabled: isWanted,
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: async ({ signal }) =>
      new Uint8Array(await (await fetchOriginal(assistantId, fileId, signal)).arrayBuffer()),
  })

/** Saves the file as its uploader named it. */
export async function downloadOriginal(assistantId: string, fileId: string, name: string): Promise<void> {
  const url = URL.createObjectURL(await (await fetchOriginal(assistantId, fileId)).blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

async function fetchOriginal(assistantId: string, fileId: string, signal?: AbortSignal): Promise<Response> {
  const path = `/assistants/${encodeURIComponent(assistantId)}/files/${encodeURIComponent(fileId)}/content`
  const response = await fetch(path, {
    headers: { authorization: `Bearer ${tokenOf() ?? ''}` },
    ...(signal && { signal }),
  })
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => undefined))
  return response
}
