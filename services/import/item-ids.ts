import type { NewIds } from '../../domain/archive/new-ids.ts'
import { withEntryId } from '../../domain/responses/ids.ts'
import { createTurns } from '../turns.ts'
import { containsItems } from './import-v1.ts'

/** The ids of messages, and of those that they follow, where messages have them. In texts, quotes are escaped. */
const messageIds = /("type":"(?:Human|AI|Tool|System)Message","data":\{"id":"|"after":")([^"\\]{38,200})(?=")/g

/**
 * Stored messages of a thread: where they are shown as items, with ids that name the new runs and entries. In their
 * text, because to parse all messages of an entry takes seconds of processor time, and in turns.
 */
export async function withNewItems(
  messagesJson: string,
  idOf: NewIds,
  thread: Parameters<typeof containsItems>[0],
): Promise<string> {
  if (!containsItems(thread)) return messagesJson
  const rename = (entryId: string) => idOf('run', entryId)
  const turns = createTurns()
  let [text, end] = ['', 0]
  for (const { 0: all, 1: before = '', 2: id = '', index } of messagesJson.matchAll(messageIds)) {
    text += messagesJson.slice(end, index) + before + withEntryId(id, rename)
    end = index + all.length
    await turns.next()
  }
  return text + messagesJson.slice(end)
}
