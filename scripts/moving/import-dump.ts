import { openAsBlob } from 'node:fs'
import OpenAI, { APIError } from 'openai'
import { bytesOf } from './dump-files.ts'
import { type DumpEntry, type DumpKind, dumpKinds, indexDump, openDump } from './dump.ts'
import { requestFor } from './new-objects.ts'
import { type ProgressFile, openProgress } from './progress-file.ts'
import { type Report, createReport } from './report.ts'
import { messageOf, sendInParts } from './request-in-parts.ts'

export interface ImportOptions {
  /** The JSONL file; the bytes of files lie beside it. */
  dump: string
  client: OpenAI
  /** Where the import notes what it has made. */
  progressFile: string
  print: (line: string) => void
  /** Called after each object. */
  onProgress?: (kind: DumpKind, done: number, all: number) => void
}

/** Threads that are filled side by side. */
const threadsAtOnce = 4
const named = 'imported_id'

/** Makes the objects of a dump on a server of the interface. A second run makes what is missing. */
export async function importDump(options: ImportOptions): Promise<Report> {
  const report = createReport(options.print)
  const entries = await indexDump(options.dump, (place, reason) => report.refused('dump', place, reason))
  const dump = await openDump(options.dump)
  const progress = await openProgress(options.progressFile)
  const importer = createImporter(options, { dump, progress, report })
  try {
    const messages = Map.groupBy(
      entries.filter(({ kind }) => kind === 'thread.message').toSorted((a, b) => a.createdAt - b.createdAt),
      ({ parent = '' }) => parent,
    )
    for (const kind of dumpKinds) {
      if (kind === 'thread.message') break
      const own = entries.filter((entry) => entry.kind === kind)
      // The interface does not list threads, so a dump may have only their messages.
      if (kind === 'thread') own.push(...threadsWithoutLine(own, [...messages.keys()]))
      await importer.begin(kind, own.length)
      let done = 0
      const next = own.values()
      const work = async () => {
        for (const entry of next) {
          await importer.take(entry, messages.get(entry.id) ?? [])
          options.onProgress?.(kind, (done += 1), own.length)
        }
      }
      await Promise.all(Array.from({ length: kind === 'thread' ? threadsAtOnce : 1 }, work))
    }
  } finally {
    await dump.close()
  }
  return report
}

function threadsWithoutLine(threads: DumpEntry[], ids: string[]): DumpEntry[] {
  const known = new Set(threads.map(({ id }) => id))
  return ids
    .filter((id) => !known.has(id))
    .map((id) => ({ kind: 'thread', id, parent: undefined, createdAt: 0, line: 0, at: 0, bytes: 0 }))
}

interface Parts {
  dump: Awaited<ReturnType<typeof openDump>>
  progress: ProgressFile
  report: Report
}

function createImporter({ client, dump: dumpFile }: ImportOptions, { dump, progress, report }: Parts) {
  /** New ids, by kind and old id, of what is on the server. */
  const there = new Map<string, string>()
  const nameOf = (kind: DumpKind, id: string) => `${kind} ${id}`
  const newIdOf = (kind: DumpKind, id: string) => there.get(nameOf(kind, id))
  /** Files that stood on the server before the upload whose end is not known. */
  const uploaded: OpenAI.FileObject[] = []

  /** Finds what earlier imports have made. */
  async function begin(kind: DumpKind, count: number): Promise<void> {
    if (count === 0) return
    if (kind === 'file') return void uploaded.push(...(await Array.fromAsync(client.files.list())))
    const list =
      kind === 'assistant'
        ? client.beta.assistants.list({ limit: 100, order: 'asc' })
        : kind === 'vector_store'
          ? client.vectorStores.list({ limit: 100, order: 'asc' })
          : []
    for await (const { id, metadata } of list) {
      const old = metadata?.[named]
      if (old !== undefined) there.set(nameOf(kind, old), id)
      onServer.add(id)
    }
  }
  const onServer = new Set<string>()

  async function take(entry: DumpEntry, messages: DumpEntry[]): Promise<void> {
    const { kind, id } = entry
    try {
      const found = await findMade(entry)
      if (found === undefined) {
        const object = entry.bytes === 0 ? {} : await dump.read(entry)
        const made = kind === 'file' ? await upload(entry, object) : await create(entry, object, pathFor(entry))
        there.set(nameOf(kind, id), made)
        report.made(kind)
      } else {
        there.set(nameOf(kind, id), found)
        report.there(kind)
      }
      if (kind === 'thread') await fill(newIdOf(kind, id) ?? '', messages)
    } catch (error) {
      if (isFatal(error)) throw error
      report.refused(kind, id, messageOf(error))
      for (const message of messages) report.refused('thread.message', message.id, `its thread ${id} was not taken`)
    }
  }

  /** The id that an earlier import gave it, if that is still there. */
  async function findMade(entry: DumpEntry): Promise<string | undefined> {
    const { kind, id, parent = '' } = entry
    switch (kind) {
      case 'assistant':
      case 'vector_store': {
        const noted = progress.madeOf(kind, id)
        return newIdOf(kind, id) ?? (noted !== undefined && onServer.has(noted) ? noted : undefined)
      }
      case 'vector_store.file': {
        const [store, file] = [newIdOf('vector_store', parent), newIdOf('file', id)]
        if (store === undefined) throw new Error(`its vector store ${parent} was not taken`)
        if (file === undefined) throw new Error(`the file ${id} was not taken`)
        return ifThere(client.vectorStores.files.retrieve(file, { vector_store_id: store }))
      }
      case 'file': {
        const noted = progress.madeOf(kind, id)
        if (noted !== undefined) return uploaded.some((file) => file.id === noted) ? noted : undefined
        if (!progress.isOpen(kind, id)) return undefined
        const { filename, bytes } = await dump.read(entry)
        const left = uploaded.find(
          (file) => file.filename === filename && file.bytes === bytes && !progress.isOurs(file.id),
        )
        if (left !== undefined) await progress.end(kind, id, left.id)
        return left?.id
      }
      case 'thread': {
        const noted = progress.madeOf(kind, id)
        return noted === undefined ? undefined : ifThere(client.beta.threads.retrieve(noted))
      }
      case 'thread.message':
        return undefined
    }
  }

  function pathFor({ kind, parent = '' }: DumpEntry): string {
    switch (kind) {
      case 'assistant':
        return '/assistants'
      case 'vector_store':
        return '/vector_stores'
      case 'vector_store.file':
        return `/vector_stores/${newIdOf('vector_store', parent)}/files`
      case 'thread':
        return '/threads'
      case 'file':
      case 'thread.message':
        throw new Error(`${kind} has no path of its own`)
    }
  }

  async function create(entry: DumpEntry, object: Record<string, unknown>, path: string): Promise<string> {
    const { kind, id } = entry
    const leftOut = (part: string, reason: string) => report.leftOut(kind, id, part, reason)
    const key = await progress.begin(kind, id)
    const { id: made } = await sendInParts(
      requestFor(entry, object, newIdOf, leftOut),
      (body, attempt) =>
        client.post<{ id: string }>(path, {
          body,
          headers: { 'openai-beta': 'assistants=v2', 'idempotency-key': `${key}-${attempt}` },
        }),
      leftOut,
    )
    await progress.end(kind, id, made)
    return made
  }

  async function upload(entry: DumpEntry, object: Record<string, unknown>): Promise<string> {
    const { kind, id } = entry
    const file = await bytesOf(dumpFile, entry, object)
    const filename = typeof object['filename'] === 'string' ? object['filename'] : id
    // What the tools of the old server made can only be uploaded as what an assistant reads.
    const purpose = object['purpose'] === 'vision' ? 'vision' : 'assistants'
    await progress.begin(kind, id)
    const made = await client.files.create({ file: new File([await openAsBlob(file)], filename), purpose })
    await progress.end(kind, id, made.id)
    return made.id
  }

  /** Adds the messages that a thread does not have, in their order. */
  async function fill(threadId: string, messages: DumpEntry[]): Promise<void> {
    if (messages.length === 0) return
    const known = new Set<string>()
    for await (const { id, metadata } of client.beta.threads.messages.list(threadId, { order: 'asc', limit: 100 })) {
      known.add(id)
      const old =
        metadata === null || typeof metadata !== 'object' ? undefined : (metadata as Record<string, string>)[named]
      if (old !== undefined) known.add(old)
    }
    const isThere = ({ kind, id }: DumpEntry) => known.has(id) || known.has(progress.madeOf(kind, id) ?? '')
    const last = messages.findLastIndex(isThere)
    for (const [index, message] of messages.entries()) {
      if (isThere(message)) {
        report.there(message.kind)
        continue
      }
      try {
        if (index < last) throw new Error('later messages of its thread are there, and it would stand behind them')
        await create(message, await dump.read(message), `/threads/${threadId}/messages`)
        report.made(message.kind)
      } catch (error) {
        if (isFatal(error)) throw error
        report.refused(message.kind, message.id, messageOf(error))
      }
    }
  }

  return { begin, take }
}

async function ifThere(reading: PromiseLike<{ id: string }>): Promise<string | undefined> {
  try {
    return (await reading).id
  } catch (error) {
    if (error instanceof OpenAI.NotFoundError) return undefined
    throw error
  }
}

/** What ends the import: every further request would end the same way. */
function isFatal(error: unknown): boolean {
  if (!(error instanceof APIError)) return false
  return error.status === undefined || error.status === 401 || error.status === 403 || error.status >= 500
}
