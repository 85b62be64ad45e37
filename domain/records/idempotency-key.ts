/** An `Idempotency-Key` of a caller: the request that used it and its answer. */
export interface IdempotencyKeyRecord {
  /** Hash of caller and key. */
  _id: string
  /** Hash of method, address and body: another request with the same key is refused. */
  fingerprint: string
  /**
   * Ids reserved for what the request creates, one for each attempt. An attempt that takes over from a dead one
   * looks for these first, so that nothing is created twice.
   */
  ids: string[]
  /** The attempt that processes the request, and the end of its lease. */
  lease: string
  leased_until: Date
  /** `answered`: the answer is stored. `followed`: the answer is made again from the run or the files. */
  outcome?: 'answered' | 'followed'
  /** The answer as JSON text, encrypted. */
  answer?: string
  /** Ids of the records that the request belongs to or may create: deleting them removes this record too. */
  subjects: string[]
  remove_at: Date
}
