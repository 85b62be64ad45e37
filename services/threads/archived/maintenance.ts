import { Readable } from 'node:stream'
import { type After, pagesById } from '../../../domain/pages-by-id.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { Collections } from '../../collections.ts'
import type { BlobStore } from '../../knowledge/blob-store.ts'
import type { SecretBox } from '../../secrets.ts'
import { readObject, resealObject } from './format.ts'
import { type ArchivedThreads, archiveOwnerOf } from './open.ts'

interface ArchiveMaintenanceDeps {
  collections: Pick<Collections, 'threads'>
  blobs: Pick<BlobStore, 'newBlobId' | 'write' | 'read' | 'delete'>
  secretBox: Pick<SecretBox, 'sealBytes' | 'openBytes' | 'isCurrentBytes'>
  archivedThreads: Pick<ArchivedThreads, 'bringBack'>
  /** Is told of each thread whose object cannot be read; the others follow. */
  onFailure: (threadId: string, error: unknown) => void
}

const threadsAtOnce = 200

/** What an operator does with all archived threads. Each is safe to repeat, and may run beside the service. */
export function createArchiveMaintenance(deps: ArchiveMaintenanceDeps) {
  const { blobs, secretBox, archivedThreads, onFailure } = deps
  const { threads } = deps.collections

  return {
    /** Seals objects again that are sealed under a previous `SECRETS_KEY`, and returns how many there were. */
    reseal: () => forEach(reseal),

    /** Brings all threads back, as a version before needs them, and returns how many there were. */
    openAll: () =>
      forEach(async (threadId) => {
        await archivedThreads.bringBack(threadId)
        return true
      }),
  }

  async function forEach(work: (threadId: string, blobIds: string[]) => Promise<boolean>): Promise<number> {
    const pages = pagesById(threadsAtOnce, (after: After<string>, limit) =>
      threads
        .find({ 'archive.blob_id': { $exists: true }, ...after }, { archive: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .lean<Pick<ThreadRecord, '_id' | 'archive'>[]>(),
    )
    let count = 0
    for await (const page of pages)
      for (const { _id, archive } of page) {
        const blobIds = archive?.blob_id ?? []
        const isDone = await work(_id, blobIds).catch(async (error: unknown) => {
          // Otherwise somebody has opened or deleted it meanwhile.
          if (await threads.exists({ _id, 'archive.blob_id': { $in: blobIds }, deleting: { $ne: true } }))
            onFailure(_id, error)
          return false
        })
        if (isDone) count += 1
      }
    return count
  }

  async function reseal(threadId: string, blobIds: string[]): Promise<boolean> {
    let named = blobIds
    for (const blobId of blobIds) {
      const object = await readObject(blobs.read(blobId))
      if (secretBox.isCurrentBytes(object)) continue
      const newId = blobs.newBlobId()
      const sealed = resealObject(secretBox, object, { threadId, blobId }, { threadId, blobId: newId })
      await blobs.write(newId, archiveOwnerOf(threadId), Readable.from([sealed]))
      const changed = named.map((id) => (id === blobId ? newId : id))
      const { matchedCount } = await threads.updateOne(
        { _id: threadId, 'archive.blob_id': named, deleting: { $ne: true } },
        { $set: { 'archive.blob_id': changed } },
      )
      await blobs.delete([matchedCount === 0 ? newId : blobId])
      // Somebody brings the thread back.
      if (matchedCount === 0) return false
      named = changed
    }
    return named !== blobIds
  }
}
