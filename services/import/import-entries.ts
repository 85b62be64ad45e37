import type { ReadRecords } from '../../domain/archive/items.ts'
import { AppError } from '../../domain/errors.ts'
import { systemMessageInJson, withoutAuthors } from '../../domain/messages.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import { messageTerms } from '../../domain/search/message-terms.ts'
import { refused } from '../capability.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import { logStore } from '../stores/log.ts'
import { threadStore } from '../stores/threads.ts'
import { countsInQuota } from '../threads/create-thread.ts'
import { threadMaxBytes } from '../threads/log.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type Import, importedThread } from './import.ts'
import { withNewItems } from './item-ids.ts'
import { recordOutcome } from './report.ts'

export interface ImportEntriesDeps {
  collections: Pick<Collections, 'threads' | 'checkpoints'>
  transaction: RunInTransaction
  storageQuota: Pick<StorageQuota, 'requireRoomForRun'>
}

type Entry = ReadRecords['messages']

/** The last entries of a run are written even when its thread is full. */
const importedMaxBytes = 1.5 * threadMaxBytes
/** Entries that are held until those before them come; far more than archives of earlier versions need. */
const deferredMaxBytes = threadMaxBytes
/** An entry takes memory beside its messages, of which it may have none. */
const restBytes = 1024
const missingBefore = 'an entry before it is missing'

/**
 * Stores the entries of threads' logs, those of each thread in the order of their numbers. Archives of earlier
 * versions have them in another order: an entry that comes too early is held.
 */
export function createEntryImport(
  { collections, transaction, storageQuota }: ImportEntriesDeps,
  { userId, idOf, report }: Import,
) {
  const log = logStore(collections)
  const deferred = new Map<string, Entry>()
  let deferredBytes = 0

  return {
    async take(first: Entry): Promise<void> {
      for (let entry: Entry | undefined = first; entry !== undefined; entry = nextDeferred(entry)) {
        const current = entry
        await recordOutcome(report, 'messages', keyOf(current), () => store(current))
      }
    },

    /** To be called when all entries have come. */
    end(): void {
      for (const key of deferred.keys()) report.refuse('messages', key, missingBefore)
      deferred.clear()
    },
  }

  async function store(archived: Entry): Promise<'imported' | 'existing' | 'deferred'> {
    const { seq } = archived
    const threadId = idOf('thread', archived.thread_id)
    const entryId = newEntryId(archived)
    const thread = await importedThread(collections, userId, threadId)
    const last = thread.last_seq ?? 0
    if (seq > last + 1) return defer(archived)
    if (seq <= last && (await log.seqOf(threadId, entryId)) !== undefined) return 'existing'
    // Entries of an import leave the thread without this id; what is said later gives it one.
    if (seq <= last || thread.last_entry_id !== undefined) throw refused('its thread has gone on since')
    const record: CheckpointRecord = {
      _id: entryId,
      thread_id: threadId,
      seq,
      messages_json: await withNewItems(withoutAuthors(archived.messages_json), idOf, thread),
      source: archived.source,
      ...(archived.run_id === undefined ? {} : { run_id: idOf('run', archived.run_id), step: archived.step ?? seq }),
      ...(archived.model === undefined ? {} : { model: archived.model }),
      created_at: new Date(archived.created_at),
    }
    await append(thread, record, archived.words)
    return 'imported'
  }

  /** Items name the runs and the entries that they belong to in one way. */
  function newEntryId({ entry_id: old, thread_id: thread, seq }: Entry): string {
    return old === undefined ? idOf('message', `${thread}/${seq}`) : idOf('run', old)
  }

  function defer(entry: Entry): 'deferred' {
    const bytes = deferredBytesOf(entry)
    if (deferred.has(keyOf(entry))) throw refused('two entries have the same number')
    if (deferredBytes + bytes > deferredMaxBytes) throw refused(missingBefore)
    deferred.set(keyOf(entry), entry)
    deferredBytes += bytes
    return 'deferred'
  }

  function nextDeferred({ thread_id, seq }: Entry): Entry | undefined {
    const key = keyOf({ thread_id, seq: seq + 1 })
    const next = deferred.get(key)
    if (next === undefined) return undefined
    deferred.delete(key)
    deferredBytes -= deferredBytesOf(next)
    return next
  }

  async function append(thread: ThreadRecord, entry: CheckpointRecord, words: string[]): Promise<void> {
    const bytes = Buffer.byteLength(entry.messages_json)
    if ((thread.log_bytes ?? 0) + bytes > importedMaxBytes) throw refused('its thread is full')
    if (!countsInQuota(thread)) await storageQuota.requireRoomForRun(userId, bytes, false)
    const search = messageTerms(thread, entry, words)
    await transaction(async (session) => {
      const hasSystem = systemMessageInJson.test(entry.messages_json)
      if (!(await threadStore(collections).takeImported(thread, { seq: entry.seq, bytes, hasSystem }, session)))
        throw new AppError('conflict', 'Another request changes the imported threads. Try again.')
      await log.addAll([search === undefined ? entry : { ...entry, search }], session)
    }).catch((error: unknown) => {
      throw isDuplicateKey(error) ? refused('two entries have the same id, or the same step of a run') : error
    })
  }
}

const deferredBytesOf = ({ messages_json: text, words }: Entry) =>
  words.reduce((bytes, word) => bytes + Buffer.byteLength(word), Buffer.byteLength(text) + restBytes)

function keyOf({ thread_id, seq }: Pick<Entry, 'thread_id' | 'seq'>): string {
  return `${thread_id}/${seq}`
}
