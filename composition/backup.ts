import path from 'node:path'
import { countIncompleteBlobs } from '../infra/backup/incomplete-blobs.ts'
import { restoreBackup } from '../infra/backup/read-backup.ts'
import { writeBackup } from '../infra/backup/write-backup.ts'
import type { Settings } from '../infra/config.ts'
import { connectForMaintenance } from '../infra/mongo/connect-for-maintenance.ts'
import { createObjectStore } from '../infra/objects/index.ts'
import { createObjectLocation } from '../infra/objects/object-location.ts'
import { connectTemporal } from '../infra/temporal/connect.ts'
import { createWorkflowClient } from '../infra/temporal/workflow-client.ts'
import { createVectorStore } from '../infra/vectors/index.ts'
import { checkStores } from '../services/backup/check-stores.ts'
import { type Receipt, createReapplyDeletions } from '../services/backup/reapply-deletions.ts'

const reapplyWaitMs = 10 * 60_000

/** Backup and restore of what this service stores: docs/operations/back-up.md. `close` ends the connections. */
export async function connectBackup(settings: Settings, log: (message: string) => void) {
  const { connection, collections, close } = await connectForMaintenance(settings)
  const vectorStore = createVectorStore(settings)
  const store = createObjectStore(settings, fetch)
  const objects = store && createObjectLocation(store)
  const uri = settings.lancedbUri ?? path.join(settings.dataDir, 'lancedb')
  // Vectors in an object store or at a provider are backed up there.
  const vectors = settings.vectorStore === 'lancedb' && !uri.includes('://') ? uri : undefined
  return {
    save: (folder: string) => writeBackup(connection, { folder, vectors, log }),
    restore: (folder: string) => restoreBackup(connection, { folder, vectors, log }),
    check: () =>
      checkStores({
        collections,
        vectors: vectorStore,
        incompleteBlobs: () => countIncompleteBlobs(connection, objects),
      }),

    /** Completed deletions since then, oldest first. */
    async *receiptsSince(since: Date): AsyncGenerator<Receipt> {
      const members = { kind: 1, subject_id: 1, user_id: 1, created_at: 1 } as const
      yield* collections.receipts
        .find({ created_at: { $gte: since }, status: 'complete' }, members)
        .sort({ created_at: 1, _id: 1 })
        .lean<Receipt[]>()
        .cursor()
    },

    /** Applies receipts again, one after the other; workers must run. */
    async reapply(receipts: AsyncIterable<Receipt>): Promise<Record<string, number>> {
      const temporal = await connectTemporal(settings)
      const workflows = createWorkflowClient(temporal, settings)
      const reapply = createReapplyDeletions({ collections, workflows, waitMs: reapplyWaitMs })
      const counts: Record<string, number> = { deleted: 0, gone: 0, newer: 0, pending: 0 }
      try {
        for await (const receipt of receipts) {
          const outcome = await reapply(receipt)
          counts[outcome] = (counts[outcome] ?? 0) + 1
        }
        return counts
      } finally {
        await temporal.close()
      }
    },

    close: async () => {
      await vectorStore.close()
      await close()
    },
  }
}
