import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/** Maps a reset token to its workflow, which decides whether the token is still valid. */
const PasswordReset = Type.Object({
  /** SHA-256 of the token. */
  _id: StoredId,
  user_id: StoredId,
  token_id: Type.String({ minLength: 1 }),
  /** When the database may delete it; later than the expiry of the token. */
  remove_at: StoredTime,
})

export const passwordResetRecord = declareRecord({
  model: 'PasswordReset',
  collection: 'password_resets',
  schema: PasswordReset,
  owners: ['user_id'],
  orphanedBy: {},
  indexes: [[{ user_id: 1 }], [{ remove_at: 1 }, { expireAfterSeconds: 0 }]],
  archive: undefined,
})
export type PasswordResetRecord = RecordOf<typeof passwordResetRecord>

/** A new password that waits until its token is checked, so that it does not appear in a workflow history. */
const PendingPassword = Type.Object({
  /** Id of the redemption. */
  _id: StoredId,
  user_id: StoredId,
  password_hash: Type.String({ minLength: 1 }),
  remove_at: StoredTime,
})

export const pendingPasswordRecord = declareRecord({
  model: 'PendingPassword',
  collection: 'pending_passwords',
  schema: PendingPassword,
  owners: ['user_id'],
  orphanedBy: {},
  indexes: [[{ user_id: 1 }], [{ remove_at: 1 }, { expireAfterSeconds: 0 }]],
  archive: undefined,
})
