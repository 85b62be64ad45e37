import { type Connection, Schema } from 'mongoose'
import type { FeedbackRecord } from '../../../domain/records/feedback.ts'
import { schemaOptions } from '../schema-options.ts'

const id = { type: String, required: true } as const
const text = { type: String, required: true } as const

const feedback = new Schema<FeedbackRecord>(
  {
    _id: id,
    run_id: text,
    thread_id: text,
    user_id: text,
    key: text,
    score: Schema.Types.Mixed,
    value_json: String,
    comment: String,
    status: text,
    created_at: { type: Date, required: true },
    delivered_at: Date,
  },
  schemaOptions('feedback'),
)
feedback.index({ thread_id: 1 })

export function feedbackModels(connection: Connection) {
  return { feedback: connection.model<FeedbackRecord>('Feedback', feedback) }
}
