/** Leads from a reset token to its workflow, which decides whether the token still counts. */
export interface PasswordResetRecord {
  /** SHA-256 of the token. */
  _id: string
  user_id: string
  token_id: string
  /** When the database may forget it; later than the end of the token. */
  remove_at: Date
}

/** A new password that waits for its token to be used, so that it need not travel through a history. */
export interface PendingPasswordRecord {
  /** Id of the redemption. */
  _id: string
  user_id: string
  password_hash: string
  remove_at: Date
}
