import { createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import OpenAI from 'openai'
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
      const name = path.join('files', nameFor(file.id))
      const isThere = await attempt(`the bytes of file ${file.id} (${file.filename})`, async () => {
        await download(client, file, path.join(folder, name))
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
        for await (const message of client.beta.threads.messages.list(id, page)) await write('thread.message', message)
      })
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, path.join(folder, dumpName))
  return { counts, problems }
}

/** Ids of other servers may hold anything; a name must not lead out of the folder. */
const nameFor = (id: string) => encodeURIComponent(id).replaceAll('.', '%2E')

async function download(client: OpenAI, { id, bytes }: OpenAI.FileObject, target: string): Promise<void> {
  const there = await stat(target).catch(() => undefined)
  if (there?.isFile() && there.size === bytes) return
  const answer = await client.files.content(id)
  const part = `${target}.part`
  try {
    if (answer.body === null) await finished(createWriteStream(part).end())
    else await pipeline(Readable.fromWeb(answer.body), createWriteStream(part, { mode: 0o600 }))
    await rename(part, target)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
