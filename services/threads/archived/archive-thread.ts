import { Readable } from 'node:stream'
import type { ClientSession } from 'mongoose'
import { AppError } from '../../../domain/errors.ts'
import { openRunStatuses } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { Collections } from '../../collections.ts'
import type { BlobStore } from '../../knowledge/blob-store.ts'
import type { SecretBox } from '../../secrets.ts'
import type { RunInTransaction } from '../../transactions.ts'
import { type ArchivedText, maxArchived, packTexts, readObject } from './format.ts'
import { archiveOwnerOf } from './open.ts'
import { type TextCollections, createTextRecords } from './text-records.ts'

export interface ArchiveThreadDeps {
  collections: Pick<Collections, 'threads'> & TextCollections
  transaction: RunInTransaction
  blobs: Pick<BlobStore, 'newBlobId' | 'write' | 'read' | 'delete'>
  secretBox: Pick<SecretBox, 'sealBytes'>
  /** Of one object. */
  limits?: { bytes: number; texts: number }
}

/** The sweep of orphans removes objects that are an hour old and that no record names. */
const namedWithinMs = 10 * 60_000

/**
 * Moves the texts of a thread from its records to an object, or to several, one after the other. Safe to repeat, and in
 * several processes at once; one that ends in between leaves the rest to the next.
 */
export function createArchiveThread(deps: ArchiveThreadDeps) {
  const { collections, transaction, blobs, secretBox, limits = maxArchived } = deps
  const { threads, runs } = collections
  const records = createTextRecords(collections)

  /** False if the thread is in use, was changed in the meantime, or has no texts. */
  return async function archive(thread: ThreadRecord, onMoved?: (bytes: number) => void): Promise<boolean> {
    if (await isInUse(thread)) return false
    let current = thread
    let part: ArchivedText[] = []
    let bytes = 0
    for await (const text of records.texts(thread._id)) {
      const size = Buffer.byteLength(text[1])
      if (part.length === limits.texts || (part.length > 0 && bytes + size > limits.bytes)) {
        const moved = await move(current, part, { onMoved })
        if (moved === undefined) return false
        current = moved
        part = []
        bytes = 0
      }
      part.push(text)
      bytes += size
    }
    if (part.length === 0) return false
    return (await move(current, part, { onMoved, at: new Date() })) !== undefined
  }

  async function isInUse({ _id: threadId }: ThreadRecord, session: ClientSession | null = null): Promise<boolean> {
    // Who settles a run that has ended reads its texts.
    const isUnsettled = { $or: [{ status: { $in: [...openRunStatuses] } }, { check_at: { $exists: true } }] }
    return (await runs.exists({ thread_id: threadId, ...isUnsettled }).session(session)) !== null
  }

  /** Moves some of the thread's texts, with `at` the last; returns its record, undefined if it was changed in the meantime. */
  async function move(
    thread: ThreadRecord,
    texts: ArchivedText[],
    { onMoved, at }: { onMoved: ((bytes: number) => void) | undefined; at?: Date },
  ): Promise<ThreadRecord | undefined> {
    const { _id: threadId } = thread
    const begun = Date.now()
    const blobId = blobs.newBlobId()
    const object = await packTexts(secretBox, { threadId, blobId }, texts)
    await blobs.write(blobId, archiveOwnerOf(threadId), Readable.from([object]))
    if (!object.equals(await readObject(blobs.read(blobId))))
      throw new AppError('internal', `the object ${blobId} of thread ${threadId} was not stored as it was sent`)
    const archive = { blob_id: [...(thread.archive?.blob_id ?? []), blobId], ...(at === undefined ? {} : { at }) }
    const isNamed = await transaction(async (session) => {
      if (Date.now() - begun > namedWithinMs) return false
      if (await isInUse(thread, session)) return false
      const { matchedCount } = await threads.updateOne(unchanged(thread), { $set: { archive } }, { session })
      if (matchedCount === 0) return false
      if ((await records.takeOut(threadId, texts, session)) !== texts.length)
        throw new AppError('conflict', `texts of thread ${threadId} were changed`)
      return true
    })
    if (!isNamed) {
      await blobs.delete([blobId])
      return undefined
    }
    onMoved?.(object.length)
    return { ...thread, archive }
  }
}

/** Selects the thread if nobody has changed or opened it since. */
function unchanged({ _id, updated_at: changed, opened_at: opened, last_seq: lastSeq, archive }: ThreadRecord) {
  return {
    _id,
    ...(archive === undefined ? { archive: { $exists: false } } : { 'archive.blob_id': archive.blob_id }),
    deleting: { $ne: true },
    updated_at: changed,
    opened_at: opened ?? null,
    last_seq: lastSeq ?? null,
  }
}
