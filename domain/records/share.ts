/** A link by which everybody can read a thread as it was when it was shared. A thread has at most one. */
export interface ShareRecord {
  /** The id of the thread. */
  _id: string
  /** The same, as in all records that go with a thread. */
  thread_id: string
  user_id: string
  project_id: string
  /** SHA-256 of the link's token, which nobody can guess. */
  token_hash: string
  /** Number of the newest entry of the log that is shown. */
  until_seq: number
  views: number
  last_viewed_at?: Date
  created_at: Date
  /** When what it shows was last brought up to the newest message. */
  updated_at: Date
}
