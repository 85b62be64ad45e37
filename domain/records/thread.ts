export interface ThreadRecord {
  _id: string
  /** The owner; of a public thread, the owner of its assistant. */
  user_id: string
  project_id: string
  assistant_id?: string
  name: string
  metadata_json: string
  /** A thread made by a public caller: it belongs to its assistant and takes no quota. */
  public: boolean
  /** How the last finished run ended; with the runs under way it gives the thread's status. */
  last_outcome: 'none' | 'success' | 'error'
  created_at: Date
  updated_at: Date
  /** Number of the newest entry of the log; absent while the log is empty. */
  last_seq?: number
  /** Bytes of the log's messages, replaced ones included; absent while the log is empty. */
  log_bytes?: number
  /** Whether the log holds system messages, which a conversation keeps; absent in records of an earlier version. */
  has_system?: boolean
  /** Raised by each creation beneath this record, so that creations and a deletion's fence never miss each other. */
  holds?: number
  deleting?: boolean
}

/**
 * One entry of a thread's append-only log. The state after it is the fold of all entries up to `seq`:
 * a message whose id is known replaces the earlier one in place, others are appended.
 */
export interface CheckpointRecord {
  _id: string
  thread_id: string
  /** Position in the thread, from 1, without gaps. */
  seq: number
  /** `Message[]` as JSON text: tool arguments may hold any key. */
  messages_json: string
  source: 'input' | 'step' | 'tools' | 'update'
  run_id?: string
  /** Number of the entry within its run: with `run_id` it makes a repeated commit harmless. */
  step?: number
  created_at: Date
}
