import Type, { type Static } from 'typebox'
import type { Person } from '../acting.ts'
import { type RecordOf, StoredBytes, StoredId, StoredTime, declareRecord, hidden, textOf } from './declared-record.ts'
import { runStatuses } from './run.ts'

/** What happens when a run is due while the one before is still under way. */
export const overlapPolicies = ['skip', 'buffer_one', 'cancel_other'] as const
export type OverlapPolicy = (typeof overlapPolicies)[number]

const yearSeconds = 366 * 24 * 3600

/** What the members of a schedule may be, in requests and in archives. */
export const scheduleLimits = {
  cronLength: 200,
  timezoneLength: 100,
  interval_seconds: { minimum: 60, maximum: yearSeconds },
  jitter_seconds: { minimum: 0, maximum: 86_400 },
  catchup_seconds: { minimum: 10, maximum: yearSeconds },
  max_runs: { minimum: 1, maximum: 1_000_000 },
} as const

/** When a schedule is due: exactly one of `cron`, `interval_seconds` and `at` is set. */
const timing = {
  cron: Type.Optional(Type.String({ maxLength: scheduleLimits.cronLength })),
  interval_seconds: Type.Optional(Type.Integer(scheduleLimits.interval_seconds)),
  at: Type.Optional(StoredTime),
  /** IANA name of the time zone of `cron`. */
  timezone: Type.String({ minLength: 1, maxLength: scheduleLimits.timezoneLength }),
  start_at: Type.Optional(StoredTime),
  end_at: Type.Optional(StoredTime),
}
const Timing = Type.Object(timing)
export type ScheduleTiming = Static<typeof Timing>

const Attachment = Type.Object({
  _id: StoredId,
  name: Type.String(),
  content_type: Type.String({ minLength: 1 }),
  size: Type.Integer(),
  sha256: Type.String({ minLength: 1 }),
  bytes: StoredBytes,
})
export type ScheduleAttachment = Static<typeof Attachment>

/** A schedule. This record is the truth: the schedule at Temporal is made from it, and made again when they differ. */
const Schedule = Type.Object({
  _id: StoredId,
  user_id: StoredId,
  project_id: StoredId,
  assistant_id: StoredId,
  /** The thread of all runs. Without it, each run has a new one. */
  thread_id: Type.Optional(StoredId),
  /** `Message[]` as JSON text. */
  input_json: Type.String({ minLength: 1 }),
  /**
   * The bytes of the images, sounds and files of the input; each run gets its own copies. In the same record, so that
   * they change and go with the input. Only what asks for them reads them (`+attachments`).
   */
  attachments: Type.Optional(Type.Array(Attachment, hidden)),
  ...timing,
  jitter_seconds: Type.Integer(scheduleLimits.jitter_seconds),
  max_runs: Type.Optional(Type.Integer(scheduleLimits.max_runs)),
  overlap: Type.Enum([...overlapPolicies]),
  catchup_seconds: Type.Integer(scheduleLimits.catchup_seconds),
  paused: Type.Boolean(),
  /** Why the service paused it; absent if its owner did. */
  pause_reason: Type.Optional(Type.String()),
  /** Who made it, if it is another's since. */
  created_by: Type.Optional(StoredId),
  /** Its maker has left the project: paused until somebody makes it his own. */
  awaits_takeover: Type.Optional(Type.Boolean()),
  note: Type.String(),
  mail_result: Type.Boolean(),
  /** How often the link of a mail has stopped the mails: each link does so once. Absent: never. */
  mail_stops: Type.Optional(Type.Integer()),
  /** The last run that was refused and of which its owner was told by mail. */
  refusal_mail: Type.Optional(Type.Object({ at: StoredTime, run: Type.String({ minLength: 1 }) })),
  /** Absent: its owner, or another client. */
  made_by: Type.Optional(Type.Enum(['assistant'])),
  /** For whom its runs work: who made it. Read it by `personOf`. */
  person: textOf<Person>(),
  /** Runs that were due; those that its owner triggered are not counted. */
  runs_made: Type.Integer(),
  /** Failures in a row. */
  failures: Type.Integer(),
  /** Incremented with every change that Temporal has to learn. */
  revision: Type.Integer(),
  /**
   * When a worker next compares the schedule at Temporal with this record: at once after a change, later to notice what
   * Temporal has lost. It is also a lease.
   */
  check_at: StoredTime,
  created_at: StoredTime,
  updated_at: StoredTime,
  holds: Type.Optional(Type.Integer()),
  /** Nothing is started any more; the schedule at Temporal is removed, then this record. */
  deleting: Type.Optional(Type.Boolean()),
})

export const scheduleRecord = declareRecord({
  model: 'Schedule',
  collection: 'schedules',
  schema: Schedule,
  owners: ['user_id', 'project_id', 'assistant_id', 'thread_id'],
  // It has to go at Temporal first.
  orphanedBy: {},
  indexes: [
    [{ user_id: 1, project_id: 1, _id: 1 }],
    [{ project_id: 1, _id: 1 }, { partialFilterExpression: { awaits_takeover: true } }],
    [{ project_id: 1 }],
    [{ assistant_id: 1 }],
    [{ thread_id: 1 }, { partialFilterExpression: { thread_id: { $exists: true } } }],
    [{ check_at: 1 }],
  ],
  archive: undefined,
})
export type ScheduleRecord = RecordOf<typeof scheduleRecord>

/** Versions without this member let only owners make schedules that they keep. */
export function personOf({ person }: Partial<Pick<ScheduleRecord, 'person'>>): Person {
  return person ?? 'owner'
}

/** `pending`: not yet started. `refused`: no run was started; `error` says why. Otherwise the status of the run. */
const scheduleRunStatuses = [...runStatuses, 'refused', 'gone'] as const
export type ScheduleRunStatus = (typeof scheduleRunStatuses)[number]

/**
 * One time at which a schedule was due, or was triggered. Made before its run, with the ids of run and thread, so that
 * a repeated attempt starts no second run.
 */
const ScheduleRun = Type.Object({
  /** `{schedule_id}/{due_at}`, or `{schedule_id}/{run_id}` if its owner triggered it. */
  _id: Type.String({ minLength: 1 }),
  schedule_id: StoredId,
  user_id: StoredId,
  project_id: StoredId,
  assistant_id: StoredId,
  thread_id: StoredId,
  run_id: StoredId,
  /** The time of the timetable, without jitter. */
  due_at: StoredTime,
  triggered: Type.Boolean(),
  /** How it ended; absent while it is under way. */
  outcome: Type.Optional(Type.Enum([...scheduleRunStatuses])),
  error: Type.Optional(
    Type.Object({ status_code: Type.Integer(), type: Type.String({ minLength: 1 }), message: Type.String() }),
  ),
  created_at: StoredTime,
  finished_at: Type.Optional(StoredTime),
  /** When a worker checks that a triggered run is followed by a workflow. Absent when it has ended. */
  check_at: Type.Optional(StoredTime),
})

export const scheduleRunRecord = declareRecord({
  model: 'ScheduleRun',
  collection: 'schedule_runs',
  schema: ScheduleRun,
  owners: scheduleRecord.owners,
  // It is stored before the thread of its run, which may never be made.
  orphanedBy: {},
  indexes: [
    [{ schedule_id: 1, created_at: 1, _id: 1 }],
    [{ user_id: 1 }],
    [{ project_id: 1 }],
    [{ assistant_id: 1 }],
    [{ thread_id: 1 }],
    [{ check_at: 1 }, { sparse: true }],
  ],
  archive: undefined,
})
export type ScheduleRunRecord = RecordOf<typeof scheduleRunRecord>

export function scheduleRunKey(scheduleId: string, which: Date | string): string {
  return `${scheduleId}/${typeof which === 'string' ? which : which.toISOString()}`
}

/** What `scheduleRunKey` was given for a triggered run: the id with which it was first tried. */
export function whichOf({ _id, schedule_id: scheduleId }: Pick<ScheduleRunRecord, '_id' | 'schedule_id'>): string {
  return _id.slice(scheduleId.length + 1)
}

/** After so many failures in a row, a schedule pauses itself. */
export const failuresBeforePause = 5
