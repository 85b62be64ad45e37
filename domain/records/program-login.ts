/**
 * A login of a program (the command line) that a person confirms in the console, after OAuth's device grant (RFC 8628);
 * and once it has its token, the session that the person can end.
 */
export interface ProgramLoginRecord {
  _id: string
  /** What the program calls itself, such as `assistant on ada-laptop`. */
  name: string
  status: 'waiting' | 'allowed' | 'refused' | 'used'
  /** Keyed hash of the code that the person types; absent once it was decided about. */
  code_hash?: string
  /** Keyed hash of the program's secret, with which it gets its token once. */
  device_hash?: string
  /** Who allowed it, and for which project the token is. */
  user_id?: string
  project_id?: string
  /** The end of the token that allowed it. */
  allowed_until?: Date
  created_at: Date
  last_used_at?: Date
  /** The end of the codes, later that of the token: the database removes the record then. */
  remove_at: Date
}
