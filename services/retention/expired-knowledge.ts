import { deletionContract } from '../../domain/contracts/deletion.ts'
import { fileDeletionContract } from '../../domain/contracts/file-deletion.ts'
import { newId } from '../../domain/ids.ts'
import { projectOf } from '../../domain/knowledge/project-files.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import { deletionOf } from '../knowledge/files.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { each } from './each.ts'

interface ExpiryDeps {
  collections: Pick<Collections, 'assistants' | 'files'>
  workflows: Pick<WorkflowClient, 'start'>
  blobs: Pick<BlobStore, 'delete'>
}

type Owned = Pick<AssistantRecord, '_id' | 'user_id' | 'project_id'>

/**
 * Deletes vector stores, files of projects and unfinished uploads whose time is over: they leave receipts, as if their owner had deleted
 * them. At most `limit` of each kind.
 */
export function createExpiry({ collections: { assistants, files }, workflows, blobs }: ExpiryDeps) {
  /** Uploads that were not completed, and their parts. Nobody has seen them as files, so that they leave no receipt. */
  async function removeUnfinished(now: Date, limit: number): Promise<void> {
    const due = await files
      .find({ expires_at: { $lt: now }, status: 'uploading' }, { blob_id: 1 })
      .limit(limit)
      .lean<Pick<FileRecord, '_id' | 'blob_id'>[]>()
    await each(due, async ({ _id, blob_id: blobId }) => {
      // First, because it may be completed at this moment: then the bytes are those of a file.
      const { deletedCount } = await files.deleteOne({ _id, blob_id: blobId, status: 'uploading' })
      if (deletedCount > 0) await blobs.delete([blobId])
    })
  }

  return {
    async vectorStores(now: Date, limit: number): Promise<void> {
      const isOver = { kind: 'vector_store', 'store.expires_at': { $lt: now } } as const
      const due = await assistants.find(isOver, { user_id: 1, project_id: 1 }).limit(limit).lean<Owned[]>()
      await each(due, async ({ _id: id, user_id: userId, project_id: projectId }) => {
        // A search in the meantime has given it more time: only one of both statements finds its condition.
        const marked = await assistants.updateOne(
          { _id: id, ...isOver },
          { $set: { deleting: true }, $inc: { holds: 1 } },
        )
        if (marked.matchedCount === 0) return
        await workflows.start(deletionContract, { kind: 'vector_store', id, userId, projectId, receiptId: newId() })
      })
    },

    async files(now: Date, limit: number): Promise<void> {
      await removeUnfinished(now, limit)
      const due = await files
        .find({ expires_at: { $lt: now }, status: { $ne: 'uploading' } })
        .limit(limit)
        .lean<FileRecord[]>()
      await each(due, (file) =>
        workflows.start(fileDeletionContract, {
          ...deletionOf(file),
          userId: file.user_id,
          projectId: projectOf(file.assistant_id) ?? '',
        }),
      )
    },
  }
}
