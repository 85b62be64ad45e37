import type { BenchContext } from '../environment.ts'

export interface KnowledgeFile {
  name: string
  content: Blob
}

export type KnowledgeClient = Awaited<ReturnType<typeof newKnowledge>>

/** A new assistant, and calls about its files. */
export async function newKnowledge(context: BenchContext) {
  const token = await context.newToken()
  const authorization = `Bearer ${token}`
  async function call<T>(
    method: string,
    path: string,
    body?: FormData | string,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const response = await fetch(`${context.url}${path}`, { method, headers: { authorization, ...headers }, body })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return response.json() as Promise<T>
  }
  const json = { 'content-type': 'application/json' }
  const { assistant_id: id } = await call<{ assistant_id: string }>('POST', '/assistants/', '{"name":"bench"}', json)
  return {
    assistantId: id,
    token,
    call,
    async upload(files: KnowledgeFile[], query = ''): Promise<Uploaded> {
      const form = new FormData()
      for (const { name, content } of files) form.append('files', content, name)
      return call<Uploaded>('POST', `/assistants/${id}/files${query}`, form)
    },
  }
}

export interface Uploaded {
  ingestion_id: string
  files: { id: string; metadata: { status: string; chunks: number; embedded: number; error?: string } }[]
}
