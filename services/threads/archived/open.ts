import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { Collections } from '../../collections.ts'
import type { BlobStore } from '../../knowledge/blob-store.ts'
import type { RunInTransaction } from '../../transactions.ts'
import type { OnMeasured } from './measured.ts'
import { createTextReader } from './reader.ts'
import { createRestore } from './restore.ts'
import { type TextCollections, createTextRecords, isArchived } from './text-records.ts'
import { type ArchivedTextsDeps, createArchivedTexts } from './texts.ts'

export interface ArchivedThreadsDeps extends ArchivedTextsDeps {
  collections: Pick<Collections, 'threads'> & TextCollections
  transaction: RunInTransaction
  blobs: Pick<BlobStore, 'read' | 'delete' | 'deleteOf' | 'ownersAmong'>
  settings: { archiveAfterDays: number | undefined }
  onMeasured?: OnMeasured | undefined
  /** For failures after which everything is readable. */
  onError: (error: unknown) => void
}

type Opened = Pick<ThreadRecord, '_id' | 'updated_at' | 'opened_at'>

/** What readers of a thread's log, runs and calls need, so that they see the texts of archived ones. */
export type ArchivedThreads = ReturnType<typeof createArchivedThreads>

const noteEveryMs = 12 * 3600_000
/** Of texts that one export holds for later. */
const aheadBytes = 16 * 1024 * 1024

/** The owner of a thread's objects in the store of bytes. */
export const archiveOwnerOf = (threadId: string) => `thread-archive/${threadId}`

/** Deletes the objects of threads, named or not. Few threads have any, and an object store is asked for those only. */
export async function deleteArchivesOf(
  blobs: Pick<BlobStore, 'deleteOf' | 'ownersAmong'>,
  threadIds: string[],
): Promise<void> {
  for (const owner of await blobs.ownersAmong(threadIds.map(archiveOwnerOf))) await blobs.deleteOf(owner)
}

/**
 * The way back of archived threads. The records of one are there with an empty text, and the objects that the thread's
 * record names have the texts. Whoever reads texts does it by `whole` or by a `reader`;
 * `test/threads/archived/reads.test.ts` finds reads that do not.
 */
export function createArchivedThreads(deps: ArchivedThreadsDeps) {
  const { settings } = deps
  const { threads } = deps.collections
  const records = createTextRecords(deps.collections)
  const texts = createArchivedTexts(deps)
  const { bringBack, bringBackBehind, settled, close } = createRestore({ ...deps, ...texts, records })
  const reader = (options: { aheadBytes?: number } = {}) =>
    createTextReader({ ...texts, records, bringBackBehind, ...options })

  return {
    /** Executes a read of records, and gives them their texts. Archived threads that it meets are brought back behind it. */
    whole: ((read) => reader().whole(read)) satisfies ReturnType<typeof reader>['whole'],

    isArchived,
    withoutText: texts.withoutText,

    /** Puts the texts of the thread back into its records. Nothing happens if they are there. */
    bringBack,
    bringBackBehind,
    settled,
    close,

    /**
     * Brings the thread back, and keeps the archiving from it: for changes of its texts. Afterwards no object has any,
     * not even one that was left by an attempt which failed.
     */
    async keepOpen(threadId: string): Promise<void> {
      await threads.updateOne({ _id: threadId }, { $set: { opened_at: new Date() } })
      await bringBack(threadId)
      await deleteArchivesOf(deps.blobs, [threadId])
    },

    /** See `createTextReader`. */
    reader,

    /** For an export: each object is read once, unless its texts are many. */
    readerByKind: () => reader({ aheadBytes }),

    /** Notes that somebody has opened the thread, twice a day at most, so that it is not archived soon. */
    async noteOpened({ _id, updated_at: changed, opened_at: opened }: Opened): Promise<void> {
      if (settings.archiveAfterDays === undefined) return
      const now = Date.now()
      if (now - Math.max(changed.getTime(), opened?.getTime() ?? 0) < noteEveryMs) return
      await threads.updateOne({ _id }, { $set: { opened_at: new Date(now) } })
    },
  }
}
