import { type Connection, Schema } from 'mongoose'
import type { ScheduleAttachment, ScheduleRecord, ScheduleRunRecord } from '../../../domain/records/schedule.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const
const maybeEmptyText = { type: String, default: '' } as const
const count = { type: Number, required: true } as const
const flag = { type: Boolean, required: true } as const
const date = { type: Date, required: true } as const

const attachment = new Schema<ScheduleAttachment>(
  {
    _id: text,
    name: maybeEmptyText,
    content_type: text,
    size: count,
    sha256: text,
    bytes: { type: Buffer, required: true },
  },
  { _id: false },
)

const schedule = new Schema<ScheduleRecord>(
  {
    _id: text,
    user_id: text,
    project_id: text,
    assistant_id: text,
    thread_id: String,
    input_json: text,
    attachments: { type: [attachment], default: undefined, select: false },
    cron: String,
    interval_seconds: Number,
    at: Date,
    timezone: text,
    start_at: Date,
    end_at: Date,
    jitter_seconds: count,
    max_runs: Number,
    overlap: text,
    catchup_seconds: count,
    paused: flag,
    pause_reason: String,
    note: maybeEmptyText,
    mail_result: flag,
    mail_stops: Number,
    refusal_mail: { type: new Schema({ at: date, run: text }, { _id: false }) },
    made_by: String,
    person: String,
    runs_made: count,
    failures: count,
    revision: count,
    check_at: date,
    created_at: date,
    updated_at: date,
    holds: Number,
    deleting: Boolean,
  },
  schemaOptions('schedules'),
)
schedule.index({ user_id: 1, project_id: 1, _id: 1 })
schedule.index({ project_id: 1 })
schedule.index({ assistant_id: 1 })
schedule.index({ thread_id: 1 }, { partialFilterExpression: { thread_id: { $exists: true } } })
schedule.index({ check_at: 1 })

const scheduleRun = new Schema<ScheduleRunRecord>(
  {
    _id: text,
    schedule_id: text,
    user_id: text,
    project_id: text,
    assistant_id: text,
    thread_id: text,
    run_id: text,
    due_at: date,
    triggered: flag,
    outcome: String,
    error: { type: new Schema({ status_code: count, type: text, message: maybeEmptyText }, { _id: false }) },
    created_at: date,
    finished_at: Date,
    check_at: Date,
  },
  schemaOptions('schedule_runs'),
)
scheduleRun.index({ schedule_id: 1, created_at: 1, _id: 1 })
scheduleRun.index({ user_id: 1 })
scheduleRun.index({ project_id: 1 })
scheduleRun.index({ assistant_id: 1 })
scheduleRun.index({ thread_id: 1 })
scheduleRun.index({ check_at: 1 }, { sparse: true })

export function scheduleModels(connection: Connection) {
  return {
    schedules: connection.model<ScheduleRecord>('Schedule', schedule),
    scheduleRuns: connection.model<ScheduleRunRecord>('ScheduleRun', scheduleRun),
  }
}
