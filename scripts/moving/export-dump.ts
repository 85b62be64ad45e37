import { mkdir, open, rename } from 'node:fs/promises'
import path from 'node:path'
import OpenAI from 'openai'
import { download, nameFor } from './download.ts'
import type { DumpKind } from './dump.ts'
import { imagesAsFiles } from './images-as-files.ts'
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
