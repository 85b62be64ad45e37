/** A fact that assistants keep across threads. */
export interface MemoryRecord {
  _id: string
  /** The account that the fact belongs to; of a caller's fact, the owner of the assistant. */
  user_id: string
  /** `scopeKey` of those who share the fact. */
  scope: string
  /** At most one of these two: for all assistants of the project, or for one assistant. Neither: for all of the user. */
  project_id?: string
  assistant_id?: string
  /** Of a fact about a caller of the assistant: who it is, see `callerHash`. */
  caller?: string
  text: string
  /** What counts as the same text, see `sameTextHash`. Unique in the scope. */
  text_hash: string
  /** The message that the fact is from. It may be gone. */
  source_message_id?: string
  /** The run whose assistant saved it. */
  run_id?: string
  made_by: 'user' | 'assistant'
  /** The model of its vector; absent while the current text has none. */
  embedded_with?: string
  /** The model that refused the text: it is found by its words only. */
  refused_by?: string
  /** Of a caller's fact: when it is deleted. */
  expires_at?: Date
  /** It is hidden, and its text is gone; the vector may still be there. */
  deleting?: boolean
  created_at: Date
  updated_at: Date
}

export const memoryLimits = {
  textLength: 1000,
  /** Facts of an account, besides those of callers. */
  ofUser: 500,
  ofCaller: 50,
  ofAllCallers: 10_000,
  savesOfRun: 10,
  /** A caller's fact is deleted when it was not saved again for so long. */
  callerDays: 90,
  /** What a run is given without asking. */
  recalled: 8,
  recalledCharacters: 2000,
  /** What the tool finds. */
  found: 10,
  queryLength: 2000,
} as const
