import { messagesFromJson } from '../../domain/messages.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import { messageWords, placeOf, wordsOf } from '../../domain/search/message-words.ts'
import type { Collections } from '../collections.ts'
import { largeRecordsAtOnce, records } from '../export/read-records.ts'
import { createTurns } from '../turns.ts'

const members = { project_id: 1, public: 1, counted: 1, asked_from: 1, expires_at: 1 } as const

/**
 * Stores the words of the messages that were stored without them, by a version before, and says how many. An entry
 * without words is marked too, so that a repetition goes on where this was ended.
 */
export async function storeMissingWords(
  { threads, checkpoints }: Pick<Collections, 'threads' | 'checkpoints'>,
  signal: AbortSignal,
): Promise<number> {
  let stored = 0
  const turns = createTurns()
  const hidden = { asked_from: { $exists: false }, expires_at: { $exists: false } }
  const own = { public: false, counted: { $ne: false }, ...hidden, deleting: { $ne: true } }
  for await (const thread of records<ThreadRecord>(threads, own, undefined, members)) {
    for (let last = 0; ;) {
      signal.throwIfAborted()
      const entries = await checkpoints
        .find({
          thread_id: thread._id,
          seq: { $gt: last },
          search: { $exists: false },
          source: { $ne: 'tools' },
          messages_json: { $ne: '' },
        })
        .sort({ seq: 1 })
        .limit(largeRecordsAtOnce)
        .lean<CheckpointRecord[]>()
      for (const entry of entries) {
        const { _id, messages_json: text, created_at: time } = entry
        const nothing = { project_id: thread.project_id, words: [], at: placeOf(_id, time) }
        const search = messageWords(thread, entry, wordsOf(messagesFromJson(text))) ?? nothing
        // Somebody may delete what a message says at the same time.
        const asRead = { _id, thread_id: thread._id, messages_json: text, search: { $exists: false } }
        const { modifiedCount } = await checkpoints.updateOne(asRead, { $set: { search } })
        stored += modifiedCount
        await turns.next()
      }
      if (entries.length < largeRecordsAtOnce) break
      last = entries.at(-1)?.seq ?? last
    }
  }
  return stored
}
