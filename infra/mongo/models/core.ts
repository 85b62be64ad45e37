import { type Connection, Schema } from 'mongoose'
import type { RunRecord } from '../../../domain/records/run.ts'
import type { ScimRecord, UserRecord } from '../../../domain/records/user.ts'
import { schemaOptions } from '../schema-options.ts'

const id = { type: String, required: true } as const
const text = { type: String, required: true } as const
const date = { type: Date, required: true } as const

const user = new Schema<UserRecord>(
  {
    _id: id,
    recognition: { type: new Schema({ day: String, seconds: Number }, { _id: false }) },
    email: String,
    provider: text,
    subject: String,
    first_name: String,
    last_name: String,
    language: String,
    password_hash: String,
    password_changed_at: Date,
    verified: { type: Boolean, required: true },
    thread_counter: { type: Number, required: true },
    thread_max: { type: Number, required: true },
    thread_max_base: Number,
    storage_max_mb: Number,
    suspended_at: Date,
    suspension_reason: String,
    created_at: date,
    last_active_at: date,
    imports: { type: new Schema({ day: text, bytes: Number }, { _id: false }) },
    verification: {
      type: new Schema(
        { run_id: text, send: Number, sent_at: Date, expires_at: Date, attempts_remaining: Number },
        { _id: false },
      ),
    },
    scim: {
      type: new Schema<ScimRecord>(
        {
          user_name: text,
          shown_name: text,
          emails: [new Schema({ value: text, kind: String, primary: Boolean }, { _id: false })],
          external_id: String,
          display_name: String,
          provider: text,
          deleted: Boolean,
          created_at: date,
          updated_at: date,
        },
        { _id: false },
      ),
    },
    deactivated_at: Date,
    deactivating: Boolean,
    sessions_ended_at: Date,
    group_ids: { type: [String], default: undefined },
    claimed_group_ids: { type: [String], default: undefined },
    left_groups: { type: [String], default: undefined },
    holds: Number,
    deleting: Boolean,
  },
  schemaOptions('users'),
)
user.index({ email: 1 }, { unique: true, partialFilterExpression: { email: { $exists: true } } })
user.index({ provider: 1, subject: 1 }, { unique: true, partialFilterExpression: { subject: { $exists: true } } })
// With `deleting` at the end, the totals of both lists can be counted from the index.
user.index({ verified: 1, created_at: 1, _id: 1, deleting: 1 })
user.index({ last_active_at: 1, _id: 1, deleting: 1 })
user.index({ 'scim.user_name': 1 }, { unique: true, partialFilterExpression: { 'scim.user_name': { $exists: true } } })
user.index({ 'scim.external_id': 1 }, { partialFilterExpression: { 'scim.external_id': { $exists: true } } })
user.index({ group_ids: 1, _id: 1 }, { partialFilterExpression: { group_ids: { $exists: true } } })
user.index({ claimed_group_ids: 1, _id: 1 }, { partialFilterExpression: { claimed_group_ids: { $exists: true } } })
user.index({ deactivating: 1 }, { partialFilterExpression: { deactivating: { $exists: true } } })
user.index({ left_groups: 1 }, { partialFilterExpression: { left_groups: { $exists: true } } })

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
    users: connection.model<UserRecord>('User', user),
    runs: connection.model<RunRecord>('Run', run),
  }
}
