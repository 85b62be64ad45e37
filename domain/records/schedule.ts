import type { Person } from '../acting.ts'
import type { AttachmentRecord } from './attachment.ts'
import type { RunStatus } from './run.ts'

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
export interface ScheduleTiming {
  cron?: string
  interval_seconds?: number
  at?: Date
  /** IANA name of the time zone of `cron`. */
  timezone: string
  start_at?: Date
  end_at?: Date
}

/** A schedule. This record is the truth: the schedule at Temporal is made from it, and made again when they differ. */
export interface ScheduleRecord extends ScheduleTiming {
  _id: string
  user_id: string
  project_id: string
  assistant_id: string
  /** The thread of all runs. Without it, each run has a new one. */
  thread_id?: string
  /** `Message[]` as JSON text. */
  input_json: string
  /**
   * The bytes of the images, sounds and files of the input; each run gets its own copies. In the same record, so that
   * they change and go with the input. Only what asks for them reads them (`+attachments`).
   */
  attachments?: ScheduleAttachment[]
  jitter_seconds: number
  max_runs?: number
  overlap: OverlapPolicy
  catchup_seconds: number
  paused: boolean
  /** Why the service paused it; absent if its owner did. */
  pause_reason?: string
  note: string
  mail_result: boolean
  /** How often the link of a mail has stopped the mails: each link does so once. Absent: never. */
  mail_stops?: number
  /** The last run that was refused and of which its owner was told by mail. */
  refusal_mail?: { at: Date; run: string }
  /** Absent: its owner, or another client. */
  made_by?: 'assistant'
  /** For whom its runs work: who made it. Read it by `personOf`. */
  person: Person
  /** Runs that were due; those that its owner triggered are not counted. */
  runs_made: number
  /** Failures in a row. */
  failures: number
  /** Incremented with every change that Temporal has to learn. */
  revision: number
  /**
   * When a worker next compares the schedule at Temporal with this record: at once after a change, later to notice what
   * Temporal has lost. It is also a lease.
   */
  check_at: Date
  created_at: Date
  updated_at: Date
  holds?: number
  /** Nothing is started any more; the schedule at Temporal is removed, then this record. */
  deleting?: boolean
}

/** Versions without this member let only owners make schedules that they keep. */
export function personOf({ person }: Partial<Pick<ScheduleRecord, 'person'>>): Person {
  return person ?? 'owner'
}

export type ScheduleAttachment = Omit<AttachmentRecord, 'thread_id' | 'user_id' | 'created_at'>

/** `pending`: not yet started. `refused`: no run was started; `error` says why. Otherwise the status of the run. */
export type ScheduleRunStatus = RunStatus | 'refused' | 'gone'

/**
 * One time at which a schedule was due, or was triggered. Made before its run, with the ids of run and thread, so that
 * a repeated attempt starts no second run.
 */
export interface ScheduleRunRecord {
  /** `{schedule_id}/{due_at}`, or `{schedule_id}/{run_id}` if its owner triggered it. */
  _id: string
  schedule_id: string
  user_id: string
  project_id: string
  assistant_id: string
  thread_id: string
  run_id: string
  /** The time of the timetable, without jitter. */
  due_at: Date
  triggered: boolean
  /** How it ended; absent while it is under way. */
  outcome?: ScheduleRunStatus
  error?: { status_code: number; type: string; message: string }
  created_at: Date
  finished_at?: Date
  /** When a worker checks that a triggered run is followed by a workflow. Absent when it has ended. */
  check_at?: Date
}

export function scheduleRunKey(scheduleId: string, which: Date | string): string {
  return `${scheduleId}/${typeof which === 'string' ? which : which.toISOString()}`
}

/** What `scheduleRunKey` was given for a triggered run: the id with which it was first tried. */
export function whichOf({ _id, schedule_id: scheduleId }: Pick<ScheduleRunRecord, '_id' | 'schedule_id'>): string {
  return _id.slice(scheduleId.length + 1)
}

/** After so many failures in a row, a schedule pauses itself. */
export const failuresBeforePause = 5
