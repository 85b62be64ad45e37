import { type Connection, Schema } from 'mongoose'
import type { RunRecord } from '../../../domain/records/run.ts'
import { schemaOptions } from '../schema-options.ts'

const id = { type: String, required: true } as const
const text = { type: String, required: true } as const
const date = { type: Date, required: true } as const

const run = new Schema<RunRecord>(
  {
    _id: id,
    thread_id: text,
    user_id: text,
    project_id: text,
    assistant_id: text,
    public: { type: Boolean, required: true },
    status: text,
    input_json: text,
    overrides: { type: Schema.Types.Mixed, default: {} },
    completion: Schema.Types.Mixed,
    acting: new Schema({ person: text, origin: text }, { _id: false }),
    in_chat_of_other: Boolean,
    schedule_id: String,
    asked_by: Schema.Types.Mixed,
    asking_calls: { type: [String], default: undefined },
    metadata_json: String,
    response_json: String,
    response_removed: Boolean,
    allowed_calls: Schema.Types.Mixed,
    fence: { type: Number, required: true },
    step_fence: Number,
    usage: Schema.Types.Mixed,
    usage_by_model: { type: [Schema.Types.Mixed], default: undefined },
    spent: { type: [Schema.Types.Mixed], default: undefined },
    budgets: { type: [String], default: undefined },
    model: String,
    finish_reason: String,
    expires_at: Date,
    waiting_since: Date,
    waited_ms: Number,
    warnings: { type: [String], default: undefined },
    first_token_ms: Number,
    error: Schema.Types.Mixed,
    traceparent: String,
    handed_over: Boolean,
    requeued: Boolean,
    imported: Boolean,
    failure_details: String,
    check_at: Date,
    last_data_event_id: String,
    deciding_since: Date,
    created_at: date,
    started_at: Date,
    finished_at: Date,
  },
  schemaOptions('runs'),
)
// Ids are time-ordered.
run.index({ thread_id: 1, _id: 1 })
run.index({ thread_id: 1, status: 1 })
run.index({ user_id: 1, _id: 1 })
run.index({ user_id: 1, project_id: 1 }, { partialFilterExpression: { in_chat_of_other: true } })
run.index({ status: 1 })
run.index({ check_at: 1 }, { sparse: true })
run.index({ project_id: 1, _id: 1 }, { partialFilterExpression: { 'completion.stored': true } })
run.index({ imported: 1, status: 1 }, { partialFilterExpression: { imported: true } })

export function coreModels(connection: Connection) {
  return {
    runs: connection.model<RunRecord>('Run', run),
  }
}
