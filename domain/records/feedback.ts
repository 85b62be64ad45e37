/** A user's feedback on a run. It is stored first; the workflow `feedback` sends it to the tracing service. */
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
  /** `stored`: no tracing service is set up. `failed`: the service refused it, or was unreachable for days. */
  status: 'stored' | 'submitted' | 'delivered' | 'failed'
  created_at: Date
  delivered_at?: Date
}
