import { AppError } from '../../domain/errors.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { FileBatchRecord } from '../../domain/records/file-batch.ts'
import type { KnowledgeCollections } from './collections.ts'
import { type EntryCounts, type VectorStoreRecord, countsOf } from './vector-stores.ts'

export interface FileBatch {
  record: FileBatchRecord
  /** Of the files that the store still has. */
  counts: EntryCounts
}

const keptMs = 30 * 86_400_000

/** The batches in which files were added to vector stores. */
export function createFileBatches({ files, fileBatches }: Pick<KnowledgeCollections, 'files' | 'fileBatches'>) {
  const entriesOf = ({ assistant_id, entry_ids: ids }: FileBatchRecord) => ({ _id: { $in: ids }, assistant_id })

  async function find({ _id }: VectorStoreRecord, batchId: string): Promise<FileBatchRecord> {
    const record = await fileBatches.findOne({ _id: batchId, assistant_id: _id }).lean<FileBatchRecord>()
    if (record === null) throw new AppError('not_found', `The vector store has no batch ${batchId}.`)
    return record
  }

  return {
    /** Throws `not_found` for a batch of another vector store. */
    find,

    entriesOf,

    async read(store: VectorStoreRecord, batchId: string): Promise<FileBatch> {
      const record = await find(store, batchId)
      const groups = await files.aggregate<{ _id: { status: string; cancelled?: boolean }; count: number }>([
        { $match: { ...entriesOf(record), status: { $ne: 'uploading' } } },
        { $group: { _id: { status: '$status', cancelled: '$cancelled' }, count: { $sum: 1 } } },
      ])
      return { record, counts: countsOf(groups) }
    },

    /** Ends the processing of the batch's files that are not done; their steps find that, and remove what they made. */
    async cancel(store: VectorStoreRecord, batchId: string): Promise<void> {
      const record = await find(store, batchId)
      const open = { ...entriesOf(record), status: { $in: ['queued', 'processing'] as FileRecord['status'][] } }
      if ((await files.exists(open)) === null) return
      const now = new Date()
      const change = { cancelled: true, error: 'The batch was cancelled.', retryable: false, updated_at: now }
      await fileBatches.updateOne({ _id: record._id, assistant_id: store._id }, { $set: { cancelled_at: now } })
      await files.updateMany(open, { $set: { status: 'failing', ...change } })
    },
  }
}

export function newBatch(store: VectorStoreRecord, id: string, entryIds: string[]): FileBatchRecord {
  const now = new Date()
  return {
    _id: id,
    assistant_id: store._id,
    user_id: store.user_id,
    entry_ids: entryIds,
    created_at: now,
    remove_at: new Date(now.getTime() + keptMs),
  }
}
