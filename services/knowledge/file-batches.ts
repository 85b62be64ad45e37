import { AppError } from '../../domain/errors.ts'
import type { VectorStoreRecord } from '../../domain/records/assistant.ts'
import type { FileBatchRecord } from '../../domain/records/file-batch.ts'
import { fileBatchStore } from '../stores/file-batches.ts'
import { projectFileStore } from '../stores/files.ts'
import type { KnowledgeCollections } from './collections.ts'
import { type EntryCounts, countsOf } from './vector-stores.ts'

export interface FileBatch {
  record: FileBatchRecord
  /** Of the files that the store still has. */
  counts: EntryCounts
}

const cachedMs = 30 * 86_400_000

/** The batches in which files were added to vector stores. */
export function createFileBatches(collections: Pick<KnowledgeCollections, 'files' | 'fileBatches'>) {
  const batches = fileBatchStore(collections)
  const entries = projectFileStore(collections)

  async function find({ _id }: VectorStoreRecord, batchId: string): Promise<FileBatchRecord> {
    const record = await batches.findOwned(_id, batchId)
    if (record === null) throw new AppError('not_found', `The vector store has no batch ${batchId}.`)
    return record
  }

  return {
    /** Throws `not_found` for a batch of another vector store. */
    find,

    async read(store: VectorStoreRecord, batchId: string): Promise<FileBatch> {
      const record = await find(store, batchId)
      return { record, counts: countsOf(await entries.countByStatus(store._id, record.entry_ids)) }
    },

    /** Ends the processing of the batch's files that are not done; their steps find that, and remove what they made. */
    async cancel(store: VectorStoreRecord, batchId: string): Promise<void> {
      const record = await find(store, batchId)
      if (!(await entries.hasOpenEntries(store._id, record.entry_ids))) return
      const now = new Date()
      await batches.noteCancelled(record, now)
      await entries.cancelEntries(store._id, record.entry_ids, now)
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
    remove_at: new Date(now.getTime() + cachedMs),
  }
}
