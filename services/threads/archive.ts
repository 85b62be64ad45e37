import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { AppError } from '../../domain/errors.ts'
import { systemMessageInJson } from '../../domain/messages.ts'
import { openRunStatuses } from '../../domain/records/run.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import type { SecretBox } from '../secrets.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type ArchivedText, archivableBytes, packTexts, unpackTexts } from './archive-format.ts'

export interface ArchiveDeps {
  collections: Pick<Collections, 'threads' | 'checkpoints' | 'runs'>
  transaction: RunInTransaction
  blobs: Pick<BlobStore, 'newBlobId' | 'write' | 'read' | 'delete'>
  secretBox: Pick<SecretBox, 'sealBytes' | 'openBytes'>
}

export type ThreadArchive = ReturnType<typeof createThreadArchive>

const dayMs = 86_400_000
/** After this time, a round undoes or completes what a killed process began. */
const abandonedMs = 10 * 60_000
/** Limits of a round, of a batch that is read, and of one transaction. */
const perRound = 200
const entriesAtOnce = 64
const changesAtOnce = 100
const changedBytesAtOnce = 2 * 1024 * 1024

/** The owner of a thread's archive in the store of bytes. */
export const archiveOwnerOf = (threadId: string) => `thread-archive/${threadId}`

/**
 * Moves the texts of threads that nobody opens from their entries to the store of bytes, and back. The entries stay, with
 * their numbers and the words by which they are found; an archived one has an empty text, which whoever reads it brings
 * back first (`infra/mongo/archived-entries.ts`). Each text is in the entry, or in the object that the thread's record
 * names, at every moment: docs/decisions/2026-11-26-archived-threads.md.
 */
export function createThreadArchive({ collections, transaction, blobs, secretBox }: ArchiveDeps) {
  const { threads, checkpoints, runs } = collections
  const opening = new Map<string, Promise<void>>()

  return {
    /** One round: at most 200 threads that were last changed or opened before `days` days; then what was abandoned. */
    async round(days: number, now = Date.now()): Promise<void> {
      const abandoned = await threads
        .find({ archiving_since: { $lt: new Date(now - abandonedMs) }, deleting: { $ne: true } }, { _id: 1 })
        .limit(perRound)
        .lean()
      const failures: unknown[] = []
      const attempt = async (work: Promise<unknown>) => {
        await work.catch((error: unknown) => failures.push(error))
      }
      for (const { _id } of abandoned) await attempt(restore(_id, false))
      for (const thread of await idleThreads(new Date(now - days * dayMs))) await attempt(archive(thread))
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} threads could not be archived`)
    },

    archive,

    /** Brings back the threads of these entries. Joins an opening that is under way in this process. */
    async openEntries(entryIds: string[]): Promise<void> {
      for (const threadId of await checkpoints.distinct('thread_id', { _id: { $in: entryIds } })) {
        const current = opening.get(threadId) ?? restore(threadId, true).finally(() => opening.delete(threadId))
        opening.set(threadId, current)
        await current
      }
    },
  }

  async function idleThreads(before: Date): Promise<ThreadRecord[]> {
    const may = {
      archived_at: { $exists: false },
      updated_at: { $lt: before },
      last_seq: { $gt: 0 },
      log_bytes: { $lte: archivableBytes },
      expires_at: { $exists: false },
      deleting: { $ne: true },
    }
    return threads
      .find({ ...may, $or: [{ opened_at: { $exists: false } }, { opened_at: { $lt: before } }] })
      .sort({ updated_at: 1 })
      .limit(perRound)
      .lean<ThreadRecord[]>()
  }

  /** False if the thread is in use, was changed in the meantime, or has nothing to archive. */
  async function archive(thread: ThreadRecord): Promise<boolean> {
    const { _id: threadId } = thread
    const openRun = { thread_id: threadId, status: { $in: [...openRunStatuses] } }
    if ((await runs.exists(openRun)) !== null) return false
    const texts = await textsOf(threadId)
    if (texts.length === 0) return false
    const blobId = blobs.newBlobId()
    const object = await packTexts(secretBox, { threadId, blobId }, texts)
    const { sha256 } = await blobs.write(blobId, archiveOwnerOf(threadId), Readable.from([object]))
    await readTexts(threadId, { blob_id: blobId, sha256 })
    const isNamed = await transaction(async (session) => {
      const now = new Date()
      const unchanged = {
        _id: threadId,
        archived_at: { $exists: false },
        deleting: { $ne: true },
        updated_at: thread.updated_at,
        last_seq: thread.last_seq ?? null,
        holds: thread.holds ?? null,
      }
      const named = { archive: { blob_id: blobId, sha256 }, archived_at: now, archiving_since: now }
      if ((await runs.exists(openRun).session(session)) !== null) return false
      const { matchedCount } = await threads.updateOne(unchanged, { $set: named }, { session })
      return matchedCount === 1
    })
    if (!isNamed) {
      await blobs.delete([blobId])
      return false
    }
    for (const batch of batchesOf(texts)) if (!(await emptyEntries(threadId, blobId, batch))) return false
    const own = { _id: threadId, ...heldBy(blobId) }
    const { matchedCount } = await threads.updateOne(own, { $unset: { archiving_since: 1 } })
    return matchedCount === 1
  }

  /** Texts with system messages stay where they are: conversations search the log for them. */
  async function textsOf(threadId: string): Promise<ArchivedText[]> {
    const texts: ArchivedText[] = []
    for (let last = 0; ;) {
      const entries = await checkpoints
        .find({ thread_id: threadId, seq: { $gt: last } }, { seq: 1, messages_json: 1 })
        .sort({ seq: 1 })
        .limit(entriesAtOnce)
        .lean<Pick<CheckpointRecord, '_id' | 'seq' | 'messages_json'>[]>()
      for (const { _id, messages_json: text } of entries) if (!systemMessageInJson.test(text)) texts.push([_id, text])
      if (entries.length < entriesAtOnce) return texts
      last = entries.at(-1)?.seq ?? last
    }
  }

  /** Empties entries that still have the archived text; false if the thread is being opened or deleted. */
  function emptyEntries(threadId: string, blobId: string, texts: ArchivedText[]): Promise<boolean> {
    return transaction(async (session) => {
      // A write, so that it conflicts with an opening that begins at the same time.
      const own = { _id: threadId, ...heldBy(blobId), deleting: { $ne: true } }
      const { matchedCount } = await threads.updateOne(own, { $set: { archiving_since: new Date() } }, { session })
      if (matchedCount === 0) return false
      await checkpoints.bulkWrite(
        texts.map(([_id, text]) => ({
          updateOne: {
            filter: { _id, thread_id: threadId, messages_json: text },
            update: { $set: { messages_json: '' } },
          },
        })),
        { session },
      )
      return true
    })
  }

  /** Safe to repeat, and in several processes at once. With `isOpened` the time counts as the thread's last use. */
  async function restore(threadId: string, isOpened: boolean): Promise<void> {
    const marked = { _id: threadId, archive: { $exists: true } }
    const thread = await threads
      .findOneAndUpdate(
        marked,
        { $set: { 'archive.is_restoring': true, archiving_since: new Date() } },
        { projection: { archive: 1 }, returnDocument: 'after' },
      )
      .lean<Pick<ThreadRecord, 'archive'>>()
    // Another process has brought it back, or it was deleted.
    if (thread?.archive === undefined) return
    const { archive: from } = thread
    const texts = await readTexts(threadId, from).catch(async (error: unknown) => {
      // Another process may have been quicker, and have deleted the object.
      if ((await threads.exists({ _id: threadId, 'archive.blob_id': from.blob_id })) !== null) throw error
      return []
    })
    for (const batch of batchesOf(texts)) {
      await checkpoints.bulkWrite(
        batch.map(([_id, text]) => ({
          updateOne: {
            filter: { _id, thread_id: threadId, messages_json: '' },
            update: { $set: { messages_json: text } },
          },
        })),
      )
    }
    await threads.updateOne(
      { _id: threadId, 'archive.blob_id': from.blob_id },
      {
        $unset: { archive: 1, archived_at: 1, archiving_since: 1 },
        ...(isOpened ? { $set: { opened_at: new Date() } } : {}),
      },
    )
    await blobs.delete([from.blob_id])
  }

  async function readTexts(threadId: string, { blob_id: blobId, sha256 }: Archive): Promise<ArchivedText[]> {
    const object = await buffer(blobs.read(blobId))
    if (createHash('sha256').update(object).digest('hex') !== sha256)
      throw new AppError('internal', `the archive ${blobId} of thread ${threadId} is not what was stored`)
    return unpackTexts(secretBox, { threadId, blobId }, object)
  }
}

type Archive = NonNullable<ThreadRecord['archive']>

/** Selects a thread that is archived there, and that nobody opens. */
const heldBy = (blobId: string) => ({ 'archive.blob_id': blobId, 'archive.is_restoring': { $exists: false } })

function* batchesOf(texts: ArchivedText[]): Generator<ArchivedText[]> {
  let batch: ArchivedText[] = []
  let bytes = 0
  for (const each of texts) {
    batch.push(each)
    bytes += Buffer.byteLength(each[1])
    if (batch.length < changesAtOnce && bytes < changedBytesAtOnce) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}
