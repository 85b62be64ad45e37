import { AppError, httpStatusOf } from '../../../domain/errors.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { Collections } from '../../collections.ts'
import type { BlobStore } from '../../knowledge/blob-store.ts'
import type { SecretBox } from '../../secrets.ts'
import { createSemaphore } from '../../semaphore.ts'
import { type ArchivedText, readObject, unpackTexts } from './format.ts'

export interface ArchivedTextsDeps {
  collections: Pick<Collections, 'threads'>
  blobs: Pick<BlobStore, 'read'>
  secretBox: Pick<SecretBox, 'openBytes'>
}

export type ArchivedTexts = ReturnType<typeof createArchivedTexts>

/** An object is up to 16 MB, several times in memory while it is read. */
const objectsAtOnce = { slots: 4, waiting: 1000, waitingPerOwner: 200 }

const present = { deleting: { $ne: true } } as const

/** Reads the objects that records of threads name. */
export function createArchivedTexts({ collections: { threads }, blobs, secretBox }: ArchivedTextsDeps) {
  const { withSlot } = createSemaphore(objectsAtOnce)

  return {
    /** The objects of a thread; none if it is not archived, or is being deleted. */
    async objectsOf(threadId: string): Promise<string[]> {
      const thread = await threads
        .findOne({ _id: threadId, ...present }, { archive: 1 })
        .lean<Pick<ThreadRecord, 'archive'>>()
      return thread?.archive?.blob_id ?? []
    },

    /** Undefined if the thread no longer names the object. Throws `internal` for one that is missing or damaged. */
    async textsIn(threadId: string, blobId: string): Promise<{ texts: ArchivedText[]; bytes: number } | undefined> {
      try {
        return await withSlot(async () => {
          const object = await readObject(blobs.read(blobId))
          return { texts: await unpackTexts(secretBox, { threadId, blobId }, object), bytes: object.length }
        }, threadId)
      } catch (error) {
        // Another process may have brought it back, or sealed it anew.
        const isNamed = (await threads.exists({ _id: threadId, 'archive.blob_id': blobId, ...present })) !== null
        if (isNamed) throw asUnreadable(error, threadId, blobId)
        return undefined
      }
    },

    /** Why records have no text although no object has it. */
    async withoutText(threadIds: string[]): Promise<AppError> {
      const left = await threads.find({ _id: { $in: threadIds }, ...present }, { _id: 1 }).lean()
      if (left.length === 0) return new AppError('not_found', 'There is no such thread.')
      return new AppError(
        'internal',
        `records of thread ${left[0]?._id} have no text, and no object is named that has it`,
      )
    },
  }
}

/** A store that is away is said as it is: the request can be repeated. */
function asUnreadable(error: unknown, threadId: string, blobId: string): unknown {
  if (error instanceof AppError && httpStatusOf[error.code] > 500) return error
  return new AppError(
    'internal',
    `the object ${blobId} with messages of thread ${threadId} is missing or damaged: restore it from a backup`,
    { cause: error },
  )
}
