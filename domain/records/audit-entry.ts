/**
 * One action, or several identical ones within a short time. Contains ids, but no contents, e-mail addresses or
 * secrets.
 */
export interface AuditEntryRecord {
  /** Time-ordered. */
  _id: string
  /** Identical actions within a short time have the same key, and increment the count of one entry. */
  key: string
  /** The account that the entry is about; absent if there is none, for example for a wrong admin token. */
  user_id?: string
  actor: 'user' | 'admin' | 'anonymous'
  /** The operation of the API, such as `accounts.login`. */
  action: string
  outcome: 'done' | 'refused'
  /** The ids in the path of the request. */
  subjects: string[]
  /** Address of the client. */
  client?: string
  user_agent?: string
  count: number
  created_at: Date
  last_at: Date
  remove_at: Date
}
