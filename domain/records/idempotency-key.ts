import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/** An `Idempotency-Key` of a caller: the request that used it and its answer. */
const IdempotencyKey = Type.Object({
  /** Hash of caller and key. */
  _id: StoredId,
  /** Hash of method, address and body: another request with the same key is refused. */
  fingerprint: Type.String({ minLength: 1 }),
  /**
   * Ids reserved for what the request creates, one for each attempt. An attempt that takes over from a dead one
   * looks for these first, so that nothing is created twice.
   */
  ids: Type.Array(Type.String()),
  /** The attempt that processes the request, and the end of its lease. */
  lease: Type.String({ minLength: 1 }),
  leased_until: StoredTime,
  /** `answered`: the answer is stored. `followed`: the answer is made again from the run or the files. */
  outcome: Type.Optional(Type.Enum(['answered', 'followed'])),
  /** The answer as JSON text, encrypted. */
  answer: Type.Optional(Type.String()),
  /** Ids of the records that the request belongs to or may create: deleting them removes this record too. */
  subjects: Type.Array(Type.String()),
  remove_at: StoredTime,
})

export const idempotencyKeyRecord = declareRecord({
  model: 'IdempotencyKey',
  collection: 'idempotency_keys',
  schema: IdempotencyKey,
  owners: [],
  indexes: [[{ subjects: 1 }], [{ remove_at: 1 }, { expireAfterSeconds: 0 }]],
  archive: undefined,
})
export type IdempotencyKeyRecord = RecordOf<typeof idempotencyKeyRecord>
