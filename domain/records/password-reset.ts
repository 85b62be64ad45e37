/** Maps a reset token to its workflow, which decides whether the token is still valid. */
export interface PasswordResetRecord {
  /** SHA-256 of the token. */
  _id: string
  user_id: string
  token_id: string
  /** When the database may delete it; later than the expiry of the token. */
  remove_at: Date
}

/** A new password that waits until its token is checked, so that it does not appear in a workflow history. */
export interface PendingPasswordRecord {
  /** Id of the redemption. */
  _id: string
  user_id: string
  password_hash: string
  remove_at: Date
}
