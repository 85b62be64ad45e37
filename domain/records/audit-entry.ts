/** One act, or several equal ones within a short time. It names ids, never contents, addresses of mail or secrets. */
export interface AuditEntryRecord {
  /** Time-ordered. */
  _id: string
  /** Equal acts within a short time have the same key, and count up one entry. */
  key: string
  /** Whose account it is about; absent when nobody's, such as a wrong admin token. */
  user_id?: string
  actor: 'user' | 'admin' | 'anonymous'
  /** The operation of the API, such as `accounts.login`. */
  action: string
  outcome: 'done' | 'refused'
  /** Ids that the path of the request named. */
  subjects: string[]
  /** Address of the client. */
  client?: string
  user_agent?: string
  count: number
  created_at: Date
  last_at: Date
  remove_at: Date
}
