import { AppError } from '../../../domain/errors.ts'
import type { Collections } from '../../collections.ts'
import type { BlobStore } from '../../knowledge/blob-store.ts'
import { createSemaphore } from '../../semaphore.ts'
import type { RunInTransaction } from '../../transactions.ts'
import type { ArchivedText } from './format.ts'
import { type OnMeasured, measured } from './measured.ts'
import type { TextRecords } from './text-records.ts'
import type { ArchivedTexts } from './texts.ts'

interface RestoreDeps extends Pick<ArchivedTexts, 'objectsOf' | 'textsIn'> {
  collections: Pick<Collections, 'threads'>
  records: Pick<TextRecords, 'putBack'>
  transaction: RunInTransaction
  blobs: Pick<BlobStore, 'delete'>
  onMeasured?: OnMeasured | undefined
  onError: (error: unknown) => void
}

/** Other writes of the database get their turns in between. */
const putBackAtOnce = 200
/** Threads that nobody waits for. What does not find a place, the next reader begins. */
const behindAtOnce = { slots: 2, waitingPerOwner: 200 }

/**
 * Puts the texts of archived threads back into their records. A thread is whole at each moment: a text is in its record,
 * or in an object that the thread names, or in both. No text is changed while an object of its thread is named
 * (`keepOpen`), so both are the same.
 */
export function createRestore(deps: RestoreDeps) {
  const { objectsOf, textsIn, records, transaction, blobs, onError } = deps
  const { threads } = deps.collections
  const names = createNames(deps)
  const underWay = new Map<string, Promise<void>>()
  const behind = new Map<string, Promise<void>>()
  const turns = createSemaphore(behindAtOnce)
  let isClosed = false

  return {
    bringBack,

    /** Brings the thread back while its reader goes on. One that a kill ends is continued by the next reader. */
    bringBackBehind(threadId: string): void {
      if (isClosed || behind.has(threadId)) return
      const work = whenFree(threadId)
        .catch((error: unknown) => {
          if (!isClosed) onError(error)
        })
        .finally(() => behind.delete(threadId))
      behind.set(threadId, work)
    },

    /** When nothing is brought back any more that nobody waits for. */
    async settled(): Promise<void> {
      while (behind.size > 0) await Promise.all(behind.values())
    },

    /** Ends what nobody waits for, after the transactions under way. */
    async close(): Promise<void> {
      isClosed = true
      await Promise.all(behind.values())
    },
  }

  async function whenFree(threadId: string): Promise<void> {
    const release = await turns.acquire('')
    try {
      if (release !== undefined && !isClosed) await bringBack(threadId)
    } finally {
      release?.()
    }
  }

  async function bringBack(threadId: string): Promise<void> {
    const current =
      underWay.get(threadId) ??
      measured('restore', deps.onMeasured, (onMoved) => restore(threadId, onMoved)).finally(() =>
        underWay.delete(threadId),
      )
    underWay.set(threadId, current)
    await current
  }

  async function restore(threadId: string, onMoved: (bytes: number) => void): Promise<void> {
    for (;;) {
      const [blobId] = await objectsOf(threadId)
      if (blobId === undefined) return
      if (!(await names.noteOpened(threadId, blobId))) continue
      const stored = await textsIn(threadId, blobId)
      if (stored === undefined) continue
      if (!(await putBack(threadId, blobId, stored.texts)) || !(await names.remove(threadId, blobId))) continue
      onMoved(stored.bytes)
      // What is left by a failure, the sweep of orphans removes.
      await blobs.delete([blobId]).catch(onError)
    }
  }

  /**
   * False if the thread no longer names the object. A record that is empty here, and is not changed until the end of the
   * transaction, has its text in the object.
   */
  async function putBack(threadId: string, blobId: string, texts: ArchivedText[]): Promise<boolean> {
    const isNamed = { _id: threadId, 'archive.blob_id': blobId, deleting: { $ne: true } }
    for (let start = 0; start < texts.length; start += putBackAtOnce) {
      const some = texts.slice(start, start + putBackAtOnce)
      const isDone = await transaction(async (session) => {
        if (isClosed) throw new AppError('unavailable', 'The process ends.')
        if ((await threads.exists(isNamed).session(session)) === null) return false
        await records.putBack(threadId, some, session)
        return true
      })
      if (!isDone) return false
    }
    return true
  }
}

/** What the thread's record says of its objects. Both answer false if it no longer names this one. */
function createNames({ collections: { threads }, transaction }: Pick<RestoreDeps, 'collections' | 'transaction'>) {
  return {
    /** So that the sweep archives the thread anew, but not soon. */
    async noteOpened(threadId: string, blobId: string): Promise<boolean> {
      const { matchedCount } = await threads.updateOne(
        { _id: threadId, 'archive.blob_id': blobId, deleting: { $ne: true } },
        { $set: { opened_at: new Date() }, $unset: { 'archive.at': 1 } },
      )
      return matchedCount > 0
    },

    remove: (threadId: string, blobId: string): Promise<boolean> =>
      transaction(async (session) => {
        const named = { _id: threadId, 'archive.blob_id': blobId }
        const isLast = { ...named, 'archive.blob_id.1': { $exists: false } }
        const last = await threads.updateOne(isLast, { $unset: { archive: 1 } }, { session })
        if (last.matchedCount > 0) return true
        const { matchedCount } = await threads.updateOne(named, { $pull: { 'archive.blob_id': blobId } }, { session })
        return matchedCount > 0
      }),
  }
}
