import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/**
 * One action, or several identical ones within a short time. Contains ids, but no contents, e-mail addresses or
 * secrets.
 */
const AuditEntry = Type.Object({
  /** Time-ordered. */
  _id: StoredId,
  /** Identical actions within a short time have the same key, and increment the count of one entry. */
  key: Type.String({ minLength: 1 }),
  /** The account that the entry is about; absent if there is none, for example for a wrong admin token. */
  user_id: Type.Optional(StoredId),
  /** The project in which it was done, by somebody who uses it. */
  project_id: Type.Optional(StoredId),
  actor: Type.Enum(['user', 'admin', 'anonymous']),
  /** The operation of the API, such as `accounts.login`. */
  action: Type.String({ minLength: 1 }),
  outcome: Type.Enum(['done', 'refused']),
  /** The ids in the path of the request. */
  subjects: Type.Array(Type.String()),
  /** Address of the client. */
  client: Type.Optional(Type.String()),
  user_agent: Type.Optional(Type.String()),
  count: Type.Integer(),
  created_at: StoredTime,
  last_at: StoredTime,
  remove_at: StoredTime,
})

export const auditEntryRecord = declareRecord({
  model: 'AuditEntry',
  collection: 'audit_entries',
  schema: AuditEntry,
  owners: ['user_id'],
  // They go when their time is over.
  orphanedBy: {},
  indexes: [
    [{ key: 1 }, { unique: true }],
    [{ user_id: 1, _id: 1 }],
    [{ project_id: 1, _id: 1 }, { partialFilterExpression: { project_id: { $exists: true } } }],
    // For the operator, who may filter by action alone.
    [{ action: 1, _id: 1 }],
    [{ remove_at: 1 }, { expireAfterSeconds: 0 }],
  ],
  archive: undefined,
})
export type AuditEntryRecord = RecordOf<typeof auditEntryRecord>
