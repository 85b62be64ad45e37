/** What somebody thinks of a run. Stored first; the `feedback` workflow takes it to the tracing service. */
export interface FeedbackRecord {
  _id: string
  run_id: string
  thread_id: string
  user_id: string
  key: string
  score?: number | boolean
  /** `{"value": …}` as JSON text: the value is free-form. */
  value_json?: string
  comment?: string
  /** `stored`: there is no tracing service. `failed`: it refused, or could not be reached for days. */
  status: 'stored' | 'submitted' | 'delivered' | 'failed'
  created_at: Date
  delivered_at?: Date
}
