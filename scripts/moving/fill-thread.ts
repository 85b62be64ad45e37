import { isJsonObject } from '../../domain/is-json-object.ts'
import type { DumpEntry } from './dump.ts'
import { type Importing, importedId, isFatal } from './importing.ts'
import { makeObject } from './make-object.ts'
import { messageOf } from './request-in-parts.ts'

/** Adds the messages that a thread does not have, in their order. */
export async function fillThread(importing: Importing, threadId: string, messages: DumpEntry[]): Promise<void> {
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
