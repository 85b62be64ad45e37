import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/** A link by which everybody can read a thread as it was when it was shared. A thread has at most one. */
const Share = Type.Object({
  /** The id of the thread. */
  _id: StoredId,
  /** The same, as in all records that go with a thread. */
  thread_id: StoredId,
  user_id: StoredId,
  project_id: StoredId,
  /** SHA-256 of the link's token, which nobody can guess. */
  token_hash: Type.String({ minLength: 1 }),
  /** Number of the newest entry of the log that is shown. */
  until_seq: Type.Integer(),
  views: Type.Integer(),
  last_viewed_at: Type.Optional(StoredTime),
  created_at: StoredTime,
  /** When what it shows was last brought up to the newest message. */
  updated_at: StoredTime,
})

export const shareRecord = declareRecord({
  model: 'Share',
  collection: 'shares',
  schema: Share,
  owners: ['thread_id'],
  indexes: [[{ token_hash: 1 }, { unique: true }], [{ user_id: 1, project_id: 1, created_at: -1 }], [{ thread_id: 1 }]],
  archive: undefined,
})
export type ShareRecord = RecordOf<typeof shareRecord>
