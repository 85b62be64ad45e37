/** One record: which migration steps the database has seen, and which job is running them. */
export interface SchemaStateRecord {
  _id: 'schema'
  /** The number of the last step that was completed. */
  version: number
  steps: { number: number; name: string; finished_at: Date; took_ms: number }[]
  lease?: { id: string; holder: string; expires_at: Date }
}
