/** Files that one request has added to a vector store. It goes with the store, or 30 days after it was made. */
export interface FileBatchRecord {
  _id: string
  /** The vector store. */
  assistant_id: string
  user_id: string
  /**
   * The store's records of its files. A file that the store had already is in both batches; one that failed and is added
   * again is another record, so that this batch does not change.
   */
  entry_ids: string[]
  /** When its caller ended the processing of files that were not done. */
  cancelled_at?: Date
  created_at: Date
  remove_at: Date
}
