import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/** Files that one request has added to a vector store. It goes with the store, or 30 days after it was made. */
const FileBatch = Type.Object({
  _id: StoredId,
  /** The vector store. */
  assistant_id: StoredId,
  user_id: StoredId,
  /**
   * The store's records of its files. A file that the store had already is in both batches; one that failed and is added
   * again is another record, so that this batch does not change.
   */
  entry_ids: Type.Array(Type.String()),
  /** When its caller ended the processing of files that were not done. */
  cancelled_at: Type.Optional(StoredTime),
  created_at: StoredTime,
  remove_at: StoredTime,
})

export const fileBatchRecord = declareRecord({
  model: 'FileBatch',
  collection: 'file_batches',
  schema: FileBatch,
  owners: ['user_id', 'assistant_id'],
  orphanedBy: { assistant_id: 'assistants' },
  indexes: [[{ assistant_id: 1 }], [{ remove_at: 1 }, { expireAfterSeconds: 0 }]],
  archive: undefined,
})
export type FileBatchRecord = RecordOf<typeof fileBatchRecord>
