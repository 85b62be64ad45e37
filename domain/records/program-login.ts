import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/**
 * A login of a program (the command line) that a person confirms in the console, after OAuth's device grant (RFC 8628);
 * and once it has its token, the session that the person can end.
 */
const ProgramLogin = Type.Object({
  _id: StoredId,
  /** What the program calls itself, such as `assistant on ada-laptop`. */
  name: Type.String({ minLength: 1 }),
  status: Type.Enum(['waiting', 'allowed', 'refused', 'used']),
  /** Keyed hash of the code that the person types; absent once it was decided about. */
  code_hash: Type.Optional(Type.String()),
  /** Keyed hash of the program's secret, with which it gets its token once. */
  device_hash: Type.Optional(Type.String()),
  /** Who allowed it, and for which project the token is. */
  user_id: Type.Optional(StoredId),
  project_id: Type.Optional(StoredId),
  /** The end of the token that allowed it. */
  allowed_until: Type.Optional(StoredTime),
  created_at: StoredTime,
  last_used_at: Type.Optional(StoredTime),
  /** The end of the codes, later that of the token: the database removes the record then. */
  remove_at: StoredTime,
})

export const programLoginRecord = declareRecord({
  model: 'ProgramLogin',
  collection: 'program_logins',
  schema: ProgramLogin,
  owners: ['user_id'],
  orphanedBy: {},
  indexes: [
    [{ code_hash: 1 }, { unique: true, partialFilterExpression: { code_hash: { $exists: true } } }],
    [{ device_hash: 1 }, { unique: true, partialFilterExpression: { device_hash: { $exists: true } } }],
    [{ user_id: 1, created_at: -1 }],
    [{ remove_at: 1 }, { expireAfterSeconds: 0 }],
  ],
  archive: undefined,
})
export type ProgramLoginRecord = RecordOf<typeof programLoginRecord>
