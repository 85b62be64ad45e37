/** One `Idempotency-Key` of one caller: what was asked with it, and what was answered. */
export interface IdempotencyKeyRecord {
  /** Hash of caller and key. */
  _id: string
  /** Hash of method, address and body: the same key with another request is refused. */
  fingerprint: string
  /**
   * Ids reserved for what the request creates, one for each attempt. An attempt that takes over from one
   * that died looks for these first, so that nothing is created twice.
   */
  ids: string[]
  /** Which attempt works on the request, and until when it may. */
  lease: string
  leased_until: Date
  /** `answered`: the answer is stored. `followed`: it is made anew from the run or the files that it shows. */
  outcome?: 'answered' | 'followed'
  /** The answer as JSON text, encrypted. */
  answer?: string
  /** Ids of the records that the request belongs to: their deletion removes this record too. */
  subjects: string[]
  remove_at: Date
}
