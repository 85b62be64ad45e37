import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/** Consecutive wrong passwords for one address; a TTL index removes it at the end of its window. */
const LoginFailures = Type.Object({
  /** SHA-256 of the address. */
  _id: StoredId,
  count: Type.Number(),
  window_ends: StoredTime,
})

export const loginFailuresRecord = declareRecord({
  model: 'LoginFailures',
  collection: 'login_failures',
  schema: LoginFailures,
  owners: [],
  indexes: [[{ window_ends: 1 }, { expireAfterSeconds: 0 }]],
  archive: undefined,
})
export type LoginFailuresRecord = RecordOf<typeof loginFailuresRecord>
