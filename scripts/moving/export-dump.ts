import { mkdir, open, rename } from 'node:fs/promises'
import path from 'node:path'
import OpenAI from 'openai'
import { download, nameFor } from './download.ts'
import type { DumpKind } from './dump.ts'
import { messageOf } from './request-in-parts.ts'

export interface ExportOptions {
  client: OpenAI
  /** For `export.jsonl` and `files/`. */
  folder: string
  /** The ids of the threads: the interface does not list them. */
  threads: string[]
  print: (line: string) => void
  onProgress?: (kind: DumpKind, done: number) => void
}

export const dumpName = 'export.jsonl'
const page = { limit: 100, order: 'asc' } as const

/**
 * Writes what a server of the interface lists into a dump. The dump appears when it is complete; bytes of files that an
 * interrupted export has read are not read again.
 */
export async function exportDump({ client, folder, threads, print, onProgress }: ExportOptions) {
  const files = path.join(folder, 'files')
  await mkdir(files, { recursive: true })
  const counts: Partial<Record<DumpKind, number>> = {}
  const images = new Set<string>()
  let problems = 0
  const unfinished = path.join(folder, `${dumpName}.part`)
  const handle = await open(unfinished, 'w')

  async function write(kind: DumpKind, object: object): Promise<void> {
    await handle.write(`${JSON.stringify(object)}\n`)
    counts[kind] = (counts[kind] ?? 0) + 1
    onProgress?.(kind, counts[kind])
  }
  /** What the server does not give is named; the export goes on. */
  async function attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof OpenAI.APIError) || error.status === undefined || error.status === 401) throw error
      print(`not exported: ${what}: ${messageOf(error)}`)
      problems += 1
      return undefined
    }
  }

  try {
    for await (const file of client.files.list()) {
      const name = nameFor(file.id)
      const isThere = await attempt(`the bytes of file ${file.id} (${file.filename})`, async () => {
        await download(path.join(folder, name), file.bytes, () => client.files.content(file.id))
        return true
      })
      await write('file', isThere ? { ...file, path: name } : file)
    }
    for await (const store of client.vectorStores.list(page)) {
      await write('vector_store', store)
      for await (const file of client.vectorStores.files.list(store.id, page)) await write('vector_store.file', file)
    }
    for await (const assistant of client.beta.assistants.list(page)) await write('assistant', assistant)
    for (const id of threads)
      await attempt(`thread ${id}`, async () => {
        await write('thread', await client.beta.threads.retrieve(id))
        for await (const message of client.beta.threads.messages.list(id, page)) {
          const { message: moved, files: own } = await imagesAsFiles(client, message, { folder, attempt })
          for (const file of own) if (!images.has(file.id)) await write('file', file)
          for (const file of own) images.add(file.id)
          await write('thread.message', moved)
        }
      })
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, path.join(folder, dumpName))
  return { counts, problems }
}

type Message = OpenAI.Beta.Threads.Message

/** Where this service shows an image that came as data: at an address of its native API. */
const ownAddress = /\/threads\/([\w-]+)\/attachments\/([\w-]+)\/content$/

interface Exporting {
  folder: string
  attempt: <T>(what: string, work: () => Promise<T>) => Promise<T | undefined>
}

/**
 * A message whose images of this service's own addresses are files of the dump, since the addresses ask for a key. The
 * key goes only to the server that is exported.
 */
async function imagesAsFiles(client: OpenAI, message: Message, { folder, attempt }: Exporting) {
  const files: { id: string; object: 'file'; filename: string; purpose: 'vision'; bytes: number; path: string }[] = []
  const content: Message['content'] = []
  for (const part of message.content) {
    const [, threadId, id] = (part.type === 'image_url' && ownAddress.exec(part.image_url.url)) || []
    if (part.type !== 'image_url' || id === undefined || threadId !== message.thread_id) {
      content.push(part)
      continue
    }
    const address = `${client.baseURL.replace(/\/v1\/?$/, '')}/threads/${threadId}/attachments/${id}/content`
    const bytes = await attempt(`an image of message ${message.id}`, () =>
      download(path.join(folder, nameFor(id)), undefined, () =>
        client.get<Response>(address, { __binaryResponse: true }),
      ),
    )
    if (bytes === undefined) content.push(part)
    else {
      files.push({ id, object: 'file', filename: 'image', purpose: 'vision', bytes, path: nameFor(id) })
      const { detail } = part.image_url
      content.push({ type: 'image_file', image_file: { file_id: id, ...(detail === undefined ? {} : { detail }) } })
    }
  }
  return { message: { ...message, content }, files }
}
