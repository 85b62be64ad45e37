import { useQuery } from '@tanstack/react-query'
import { type Schemas, api, queryClient, unwrap } from './api.ts'
import { kindOf } from './document-answers.ts'

export type ThreadDocument = Schemas['ThreadDocument']

/** The longest text of a document, in bytes. */
export const longestDocument = 256 * 1024

const listKey = (threadId: string) => ['documents', threadId]

/** The documents of a chat, without their texts. */
export const useDocuments = (threadId: string) =>
  useQuery({
    queryKey: listKey(threadId),
    queryFn: () => unwrap(api.GET('/threads/{tid}/documents', { params: { path: { tid: threadId } } })),
  })

export const useDocumentText = (threadId: string, documentId: string, number: number) =>
  useQuery({
    queryKey: ['document', threadId, documentId, number],
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: () =>
      unwrap(
        api.GET('/threads/{tid}/documents/{document_id}', {
          params: { path: { tid: threadId, document_id: documentId }, query: { number } },
        }),
      ),
  })

export async function putVersion(threadId: string, documentId: string, body: Schemas['DocumentPutRequest']) {
  const path = { tid: threadId, document_id: documentId }
  try {
    return await unwrap(api.PUT('/threads/{tid}/documents/{document_id}', { params: { path }, body }))
  } finally {
    await queryClient.invalidateQueries({ queryKey: listKey(threadId) })
  }
}

export async function removeDocument(threadId: string, documentId: string): Promise<void> {
  const path = { tid: threadId, document_id: documentId }
  await unwrap(api.DELETE('/threads/{tid}/documents/{document_id}', { params: { path } }))
  await queryClient.invalidateQueries({ queryKey: listKey(threadId) })
}

/** The id of the document that begins with this part of an answer: the same each time that it is opened. */
export function documentIdOf(messageId: string, content: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  const text = `${messageId}\n${content}`
  for (let place = 0; place < text.length; place += 1) {
    const code = text.charCodeAt(place)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  return `doc-${(a >>> 0).toString(16).padStart(8, '0')}${(b >>> 0).toString(16).padStart(8, '0')}`
}

const endings: Record<string, string> = {
  html: 'html',
  svg: 'svg',
  markdown: 'md',
  python: 'py',
  javascript: 'js',
  typescript: 'ts',
  tsx: 'tsx',
  jsx: 'jsx',
  css: 'css',
  json: 'json',
  csv: 'csv',
  sql: 'sql',
  yaml: 'yaml',
  xml: 'xml',
  bash: 'sh',
  sh: 'sh',
  java: 'java',
  rust: 'rs',
  go: 'go',
  c: 'c',
  cpp: 'cpp',
  ruby: 'rb',
  php: 'php',
}

export function endingOf(language: string): string {
  const kind = kindOf(language)
  return Object.hasOwn(endings, kind) ? (endings[kind] ?? 'txt') : 'txt'
}

/** The language of a file, by the ending of its name; undefined for what is no text. */
export function languageOfFile(name: string): string | undefined {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (['txt', 'log'].includes(ending)) return ''
  if (ending === 'htm' || ending === 'yml') return ending === 'htm' ? 'html' : 'yaml'
  return Object.keys(endings).find((language) => endings[language] === ending)
}

/** What a text is called: its own title, or its kind. */
export function titleOf(content: string, language: string): string {
  const beginning = content.slice(0, 4000)
  const title =
    kindOf(language) === 'html'
      ? /<title>([^<]{1,100})<\/title>/i.exec(beginning)?.[1]
      : kindOf(language) === 'markdown'
        ? /^#{1,3} +(.{1,100})$/m.exec(beginning)?.[1]
        : undefined
  return title?.replaceAll(/["<>*_`\s]+/g, ' ').trim() || `document.${endingOf(language)}`
}
