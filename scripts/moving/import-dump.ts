import type OpenAI from 'openai'
import { isJsonObject } from '../../domain/json.ts'
import { type DumpEntry, type DumpKind, dumpKinds, indexDump, openDump } from './dump.ts'
import { type Importing, createNewIds, importedId, isFatal } from './importing.ts'
import { createMadeBefore } from './made-before.ts'
import { makeObject } from './make-object.ts'
import { openProgress } from './progress-file.ts'
import { createReport } from './report.ts'
import { messageOf } from './request-in-parts.ts'

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

/** Makes the objects of a dump on a server of the interface. A second run makes what is missing. */
export async function importDump({ dump: dumpFile, client, progressFile, print, onProgress }: ImportOptions) {
  const report = createReport(print)
  const entries = await indexDump(dumpFile, (place, reason) => report.refused('dump', place, reason))
  const dump = await openDump(dumpFile)
  try {
    const progress = await openProgress(progressFile)
    const take = createTake({ client, dumpFile, dump, progress, report, newIds: createNewIds() })
    const messages = messagesByThread(entries)
    for (const kind of dumpKinds) {
      // They are taken with their threads.
      if (kind === 'thread.message') continue
      const own = entries.filter((entry) => entry.kind === kind)
      // The interface does not list threads, so a dump may have only their messages.
      if (kind === 'thread') own.push(...threadsWithoutLine(own, [...messages.keys()]))
      if (own.length === 0) continue
      await take.begin(kind)
      let done = 0
      await inTurn(own, kind === 'thread' ? threadsAtOnce : 1, async (entry) => {
        await take.one(entry, messages.get(entry.id) ?? [])
        onProgress?.(kind, (done += 1), own.length)
      })
    }
  } finally {
    await dump.close()
  }
  return report
}

function createTake(importing: Importing) {
  const { report, newIds } = importing
  const madeBefore = createMadeBefore(importing)
  return {
    begin: madeBefore.begin,
    async one(entry: DumpEntry, messages: DumpEntry[]): Promise<void> {
      const { kind, id } = entry
      try {
        const found = await madeBefore.find(entry)
        const newId = found ?? (await makeObject(importing, entry))
        newIds.set(kind, id, newId)
        report[found === undefined ? 'made' : 'there'](kind)
        if (kind === 'thread') await fillThread(importing, newId, messages)
      } catch (error) {
        if (isFatal(error)) throw error
        report.refused(kind, id, messageOf(error))
        for (const message of kind === 'thread' ? messages : [])
          report.refused(message.kind, message.id, `its thread ${id} was not taken`)
      }
    },
  }
}

/**
 * The oldest first. Times are whole seconds, so the order of the lines decides between equal ones: most lists are
 * asked for with the newest first, an export has the oldest first.
 */
function messagesByThread(entries: DumpEntry[]): Map<string, DumpEntry[]> {
  const messages = entries.filter(({ kind }) => kind === 'thread.message')
  const threads = Map.groupBy(messages, ({ parent = '' }) => parent)
  const isNewestFirst = [...threads.values()].reduce((sum, lines) => sum + directionOf(lines), 0) < 0
  const inOrder = ([thread, lines]: [string, DumpEntry[]]) =>
    [thread, (isNewestFirst ? lines.toReversed() : lines).toSorted((a, b) => a.createdAt - b.createdAt)] as const
  return new Map([...threads].map(inOrder))
}

/** Above 0 if times rise from line to line, below 0 if they fall. */
function directionOf(lines: DumpEntry[]): number {
  const steps = lines.slice(1).map(({ createdAt }, index) => Math.sign(createdAt - (lines[index]?.createdAt ?? 0)))
  return steps.reduce((sum, step) => sum + step, 0)
}

function threadsWithoutLine(threads: DumpEntry[], ids: string[]): DumpEntry[] {
  const known = new Set(threads.map(({ id }) => id))
  return ids
    .filter((id) => !known.has(id))
    .map((id) => ({ kind: 'thread', id, parent: undefined, createdAt: 0, line: 0, at: 0, bytes: 0 }))
}

/** Does the work for all, so many at once. */
async function inTurn<T>(all: T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const next = all.values()
  const lane = async () => {
    for (const one of next) await work(one)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, lane))
}

/** Adds the messages that a thread does not have, in their order. */
async function fillThread(importing: Importing, threadId: string, messages: DumpEntry[]): Promise<void> {
  if (messages.length === 0) return
  const { progress, report } = importing
  const known = await messagesOf(importing, threadId)
  const isThere = ({ kind, id }: DumpEntry) => known.has(id) || known.has(progress.madeOf(kind, id) ?? '')
  const last = messages.findLastIndex(isThere)
  for (const [index, message] of messages.entries()) {
    const { kind, id } = message
    if (isThere(message)) {
      report.there(kind)
      continue
    }
    try {
      if (index < last) throw new Error('later messages of its thread are there, and it would stand behind them')
      await makeObject(importing, message, threadId)
      report.made(kind)
    } catch (error) {
      if (isFatal(error)) throw error
      report.refused(kind, id, messageOf(error))
    }
  }
}

/** The ids of what a thread has, and the old ids that it keeps. */
async function messagesOf({ client }: Importing, threadId: string): Promise<Set<string>> {
  const known = new Set<string>()
  for await (const { id, metadata } of client.beta.threads.messages.list(threadId, { order: 'asc', limit: 100 })) {
    known.add(id)
    const old = isJsonObject(metadata) ? metadata[importedId] : undefined
    if (typeof old === 'string') known.add(old)
  }
  return known
}
