import type { FileBatchRecord } from '../../domain/records/file-batch.ts'
import type { Collections } from '../collections.ts'

/** All statements on `file_batches`, which belong to vector stores. */
export const fileBatchStore = ({ fileBatches }: Pick<Collections, 'fileBatches'>) => ({
  findOwned: async (storeId: string, id: string) =>
    fileBatches.findOne({ _id: id, assistant_id: storeId }).lean<FileBatchRecord>(),

  add: async (batch: FileBatchRecord) => fileBatches.create([batch]),

  remove: async (storeId: string, id: string) => fileBatches.deleteOne({ _id: id, assistant_id: storeId }),

  noteCancelled: async ({ _id, assistant_id }: FileBatchRecord, now: Date) =>
    fileBatches.updateOne({ _id, assistant_id }, { $set: { cancelled_at: now } }),
})
