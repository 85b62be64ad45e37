import Type, { type Static } from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import { Message, RunMessageInput, messagesFromJson } from '../../../domain/messages.ts'
import { runStatuses } from '../../../domain/records/run.ts'
import { type ScheduleRecord, overlapPolicies, scheduleLimits } from '../../../domain/records/schedule.ts'
import type { ListedScheduleRun } from '../../../services/schedules/triggered-runs.ts'
import { MadeBy, type Makers, PathId, Timestamp, nullable, toMaker } from '../schemas.ts'

const messages = Type.Array(RunMessageInput, { minItems: 1, maxItems: requestLimits.messages })
const ScheduleInput = Type.Union([messages, Type.Object({ messages })], {
  title: 'ScheduleInput',
  about: 'The messages that each run begins with.',
  description:
    'The messages that each run begins with, as in `POST /runs/`. Images, sounds and files are read now, once, and may have 8 MiB together.',
})
const Instant = Type.String({ format: 'date-time', maxLength: 40, description: 'ISO 8601; rounded down to a second.' })
const Overlap = Type.Enum([...overlapPolicies], {
  title: 'OverlapPolicy',
  about: 'What happens when a run is due while the one before is under way.',
  description:
    'What to do when a run is due while the one before is under way: leave it out (the default), start it afterwards (one at most), or cancel the one before.',
})

const timing = {
  cron: Type.Optional(
    Type.String({
      maxLength: scheduleLimits.cronLength,
      description:
        'Five fields: minute, hour, day of the month, month, day of the week. All of them must match, also both fields of days.',
    }),
  ),
  interval_seconds: Type.Optional(Type.Integer(scheduleLimits.interval_seconds)),
  at: Type.Optional(Instant),
  timezone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: scheduleLimits.timezoneLength,
      description: 'IANA name of the time zone of `cron`; default UTC.',
    }),
  ),
}
const start = Type.Optional(Instant)
const maxRuns = Type.Integer({ ...scheduleLimits.max_runs, description: 'How many runs there are at most.' })
const note = Type.String({ maxLength: requestLimits.nameLength })
const settings = {
  jitter_seconds: Type.Optional(
    Type.Integer({
      ...scheduleLimits.jitter_seconds,
      description: 'Runs begin at random within this time; default 0.',
    }),
  ),
  overlap: Type.Optional(Overlap),
  catchup_seconds: Type.Optional(
    Type.Integer({
      ...scheduleLimits.catchup_seconds,
      description: 'How late a run may begin after an outage; default 3,600.',
    }),
  ),
  paused: Type.Optional(Type.Boolean()),
  mail_result: Type.Optional(
    Type.Boolean({ description: 'Whether to mail each result to your confirmed address; default false.' }),
  ),
}

export const ScheduleTimingRequest = Type.Object(
  { ...timing, start_at: start, end_at: start },
  { title: 'ScheduleTimingRequest', about: 'Times to compute: exactly one of `cron`, `interval_seconds` and `at`.' },
)

export const ScheduleCreateRequest = Type.Object(
  {
    assistant_id: PathId,
    input: ScheduleInput,
    thread_id: Type.Optional(PathId),
    ...timing,
    ...settings,
    start_at: start,
    end_at: start,
    max_runs: Type.Optional(maxRuns),
    note: Type.Optional(note),
  },
  {
    title: 'ScheduleCreateRequest',
    about: 'The schedule to make: exactly one of `cron`, `interval_seconds` and `at`.',
  },
)

export const ScheduleUpdateRequest = Type.Object(
  {
    assistant_id: Type.Optional(PathId),
    input: Type.Optional(ScheduleInput),
    thread_id: Type.Optional(nullable(PathId)),
    ...timing,
    ...settings,
    start_at: Type.Optional(nullable(Instant)),
    end_at: Type.Optional(nullable(Instant)),
    max_runs: Type.Optional(nullable(maxRuns)),
    note: Type.Optional(nullable(note)),
  },
  {
    title: 'ScheduleUpdateRequest',
    about: 'The members to change; one of `cron`, `interval_seconds` and `at` replaces the others.',
  },
)

const NextRuns = Type.Array(Timestamp, { description: 'The next five times, without jitter; none while it is paused.' })
export const NextTimes = Type.Object(
  { next_runs: Type.Array(Timestamp) },
  { title: 'ScheduleTimes', about: 'The next five times.' },
)

export const Schedule = Type.Object(
  {
    schedule_id: Type.String(),
    project_id: Type.String(),
    assistant_id: Type.String(),
    thread_id: nullable(Type.String()),
    input: Type.Array(Message),
    cron: nullable(Type.String()),
    interval_seconds: nullable(Type.Integer()),
    at: nullable(Timestamp),
    timezone: Type.String(),
    jitter_seconds: Type.Integer(),
    start_at: nullable(Timestamp),
    end_at: nullable(Timestamp),
    max_runs: nullable(Type.Integer()),
    overlap: Overlap,
    catchup_seconds: Type.Integer(),
    paused: Type.Boolean(),
    created_by: MadeBy,
    awaits_takeover: Type.Boolean({
      description: 'Whoever made it has left the project: it is paused until an editor takes it over.',
    }),
    pause_reason: nullable(Type.String({ description: 'Why the service paused it.' })),
    note: Type.String(),
    mail_result: Type.Boolean(),
    made_by: nullable(Type.Literal('assistant', { description: 'An assistant made it by its tool.' })),
    runs_made: Type.Integer({ description: 'Runs that were due; those that you triggered are not counted.' }),
    failures: Type.Integer({ description: 'Failures in a row; the fifth pauses the schedule.' }),
    next_runs: NextRuns,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Schedule', about: 'A schedule and its next times.' },
)

export const ScheduleList = Type.Object(
  { schedules: Type.Array(Schedule), limit: Type.Integer(), offset: Type.Integer() },
  { title: 'ScheduleList', about: 'A page of schedules.' },
)

export const ScheduleRun = Type.Object(
  {
    schedule_id: Type.String(),
    run_id: Type.String(),
    thread_id: Type.String(),
    due_at: Timestamp,
    triggered: Type.Boolean({ description: 'Whether you triggered it.' }),
    status: Type.Enum([...runStatuses, 'refused', 'gone'], {
      title: 'ScheduleRunStatus',
      about: 'How far the run of a schedule is.',
      description: '`refused`: no run was started, and `error` says why. `gone`: the run was deleted.',
    }),
    error: nullable(
      Type.Object(
        { status_code: Type.Integer(), type: Type.String(), message: Type.String() },
        { title: 'ScheduleRunError', about: 'Why no run was started, or why it failed.' },
      ),
    ),
    created_at: Timestamp,
    finished_at: nullable(Timestamp),
  },
  { title: 'ScheduleRun', about: 'One time at which a schedule was due, or was triggered.' },
)

export const ScheduleRunList = Type.Object(
  { runs: Type.Array(ScheduleRun), limit: Type.Integer(), offset: Type.Integer() },
  { title: 'ScheduleRunList', about: 'A page of the runs of a schedule.' },
)

const iso = (time: Date | undefined) => time?.toISOString() ?? null

export const makerOf = ({ user_id: userId, created_by: maker = userId }: ScheduleRecord): string => maker

export function toSchedule(schedule: ScheduleRecord, nextRuns: Date[], makers: Makers): Static<typeof Schedule> {
  return {
    schedule_id: schedule._id,
    project_id: schedule.project_id,
    assistant_id: schedule.assistant_id,
    thread_id: schedule.thread_id ?? null,
    input: messagesFromJson(schedule.input_json),
    cron: schedule.cron ?? null,
    interval_seconds: schedule.interval_seconds ?? null,
    at: iso(schedule.at),
    timezone: schedule.timezone,
    jitter_seconds: schedule.jitter_seconds,
    start_at: iso(schedule.start_at),
    end_at: iso(schedule.end_at),
    max_runs: schedule.max_runs ?? null,
    overlap: schedule.overlap,
    catchup_seconds: schedule.catchup_seconds,
    paused: schedule.paused,
    created_by: toMaker(makers, makerOf(schedule)),
    awaits_takeover: schedule.awaits_takeover ?? false,
    pause_reason: schedule.pause_reason ?? null,
    note: schedule.note,
    mail_result: schedule.mail_result,
    made_by: schedule.made_by ?? null,
    runs_made: schedule.runs_made,
    failures: schedule.failures,
    next_runs: nextRuns.map((time) => time.toISOString()),
    created_at: schedule.created_at.toISOString(),
    updated_at: schedule.updated_at.toISOString(),
  }
}

export function toScheduleRun({ scheduled, run }: ListedScheduleRun): Static<typeof ScheduleRun> {
  const runError = run?.error && {
    status_code: run.error.status_code,
    type: run.error.type,
    message: run.error.message,
  }
  return {
    schedule_id: scheduled.schedule_id,
    run_id: scheduled.run_id,
    thread_id: scheduled.thread_id,
    due_at: scheduled.due_at.toISOString(),
    triggered: scheduled.triggered,
    status: scheduled.outcome ?? run?.status ?? 'pending',
    error: scheduled.error ?? runError ?? null,
    created_at: scheduled.created_at.toISOString(),
    finished_at: iso(scheduled.finished_at ?? run?.finished_at),
  }
}
