import { deletionContract } from '../../domain/contracts/deletion.ts'
import { fileDeletionContract } from '../../domain/contracts/file-deletion.ts'
import { newId } from '../../domain/ids.ts'
import { projectOf } from '../../domain/knowledge/project-files.ts'
import type { Collections } from '../collections.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import { deletionOf } from '../knowledge/files.ts'
import { expiredFileStore } from '../stores/files.ts'
import { vectorStoreStore } from '../stores/vector-stores.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { each } from './each.ts'

interface ExpiryDeps {
  collections: Pick<Collections, 'assistants' | 'files'>
  workflows: Pick<WorkflowClient, 'start'>
  blobs: Pick<BlobStore, 'delete'>
}

/**
 * Deletes vector stores, files of projects and unfinished uploads whose time is over: they leave receipts, as if their
 * owner had deleted them. At most `limit` of each kind.
 */
export function createExpiry({ collections, workflows, blobs }: ExpiryDeps) {
  const files = expiredFileStore(collections)
  const stores = vectorStoreStore(collections)

  /** Uploads that were not completed, and their parts. Nobody has seen them as files, so that they leave no receipt. */
  async function removeUnfinished(now: Date, limit: number): Promise<void> {
    await each(await files.unfinishedOfAny(now, limit), async (file) => {
      // First, because it may be completed at this moment: then the bytes are those of a file.
      if (await files.removeUnfinished(file)) await blobs.delete([file.blob_id])
    })
  }

  return {
    async vectorStores(now: Date, limit: number): Promise<void> {
      const due = await stores.listExpiredOfAny(now, limit)
      await each(due, async ({ _id: id, user_id: userId, project_id: projectId }) => {
        // A search in the meantime has given it more time: only one of both statements finds its condition.
        if (!(await stores.markExpiredOfAny(id, now))) return
        await workflows.start(deletionContract, { kind: 'vector_store', id, userId, projectId, receiptId: newId() })
      })
    },

    async files(now: Date, limit: number): Promise<void> {
      await removeUnfinished(now, limit)
      await each(await files.expiredOfAny(now, limit), (file) =>
        workflows.start(fileDeletionContract, {
          ...deletionOf(file),
          userId: file.user_id,
          projectId: projectOf(file.assistant_id) ?? '',
        }),
      )
    },
  }
}
