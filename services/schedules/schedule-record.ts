import type { ScheduleRecord, ScheduleTiming } from '../../domain/records/schedule.ts'
import type { Caller } from '../owner.ts'
import type { NewSchedule, ScheduleChanges, ScheduleMaker } from './schedule-request.ts'

type Input = Pick<ScheduleRecord, 'input_json' | 'attachments'>
type Times = ScheduleTiming & { created_at: Date }

/** The record of a new schedule, which Temporal does not know yet. */
export function recordOf(
  { userId, projectId }: Caller,
  scheduleId: string,
  given: Omit<NewSchedule, 'input'>,
  { created_at, ...timing }: Times,
  { madeBy, person, ...input }: Input & ScheduleMaker,
): ScheduleRecord {
  const now = new Date()
  return {
    _id: scheduleId,
    user_id: userId,
    project_id: projectId,
    assistant_id: given.assistant_id,
    ...(given.thread_id === undefined ? {} : { thread_id: given.thread_id }),
    ...input,
    ...timing,
    jitter_seconds: given.jitter_seconds ?? 0,
    ...(given.max_runs === undefined ? {} : { max_runs: given.max_runs }),
    overlap: given.overlap ?? 'skip',
    catchup_seconds: given.catchup_seconds ?? 3600,
    paused: given.paused ?? false,
    note: given.note ?? '',
    mail_result: given.mail_result ?? false,
    ...(madeBy === 'user' ? {} : { made_by: madeBy }),
    person,
    runs_made: 0,
    failures: 0,
    revision: 1,
    check_at: now,
    created_at,
    updated_at: now,
  }
}

/** The statement that makes the changes. */
export function updateOf(changes: ScheduleChanges, timing: ScheduleTiming | undefined, input: Input | undefined) {
  const now = new Date()
  const plain = ['assistant_id', 'jitter_seconds', 'overlap', 'catchup_seconds', 'paused', 'mail_result'] as const
  const $set: Partial<ScheduleRecord> = { updated_at: now, check_at: now, ...timing, ...input }
  for (const member of plain) if (changes[member] !== undefined) Object.assign($set, { [member]: changes[member] })
  if (changes.note !== undefined) $set.note = changes.note ?? ''
  if (typeof changes.thread_id === 'string') $set.thread_id = changes.thread_id
  if (typeof changes.max_runs === 'number') $set.max_runs = changes.max_runs
  if (changes.paused === false) $set.failures = 0
  const $unset = {
    ...(changes.thread_id === null ? { thread_id: 1 } : {}),
    ...(changes.max_runs === null ? { max_runs: 1 } : {}),
    ...(changes.paused === undefined ? {} : { pause_reason: 1 }),
    ...(timing === undefined ? {} : withoutTiming(timing)),
    ...(input !== undefined && input.attachments === undefined ? { attachments: 1 } : {}),
  }
  return { $set, $unset }
}

/** The statement that takes a change back. */
export function undoOf({ $set, $unset }: ReturnType<typeof updateOf>, before: ScheduleRecord) {
  const changed = new Set(Object.keys({ ...$set, ...$unset }))
  const earlier = Object.entries(before).filter(([member]) => changed.has(member))
  const added = [...changed].filter((member) => !Object.hasOwn(before, member))
  return {
    $set: Object.fromEntries(earlier),
    $unset: Object.fromEntries(added.map((member) => [member, 1])),
  }
}

/** The members of a timing that it does not have. */
function withoutTiming(timing: object): Record<string, 1> {
  const members = ['cron', 'interval_seconds', 'at', 'start_at', 'end_at'].filter((member) => !(member in timing))
  return Object.fromEntries(members.map((member) => [member, 1]))
}
