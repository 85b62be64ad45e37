import type { Person } from '../../domain/acting.ts'
import { invalidInput } from '../../domain/errors.ts'
import type { OverlapPolicy, ScheduleTiming } from '../../domain/records/schedule.ts'
import { isTimezone, lastYear, nextTimes, problemOfCron } from '../../domain/schedules/next-times.ts'
import type { RunRequest } from '../runs/index.ts'

interface TimingRequest {
  cron?: string
  interval_seconds?: number
  /** Times are ISO 8601. */
  at?: string
  timezone?: string
  start_at?: string
  end_at?: string
}

export interface NewSchedule extends TimingRequest {
  assistant_id: string
  input: RunRequest['input']
  thread_id?: string
  jitter_seconds?: number
  max_runs?: number
  overlap?: OverlapPolicy
  catchup_seconds?: number
  paused?: boolean
  note?: string
  mail_result?: boolean
}

/** Who makes a schedule, and for whom its runs then work. No request says it. */
export interface ScheduleMaker {
  madeBy: 'user' | 'assistant'
  person: Person
}

/** By a request of the account that holds the project. */
export const ownerMakes = { madeBy: 'user', person: 'owner' } as const satisfies ScheduleMaker

export type ScheduleChanges = Partial<Omit<NewSchedule, 'thread_id' | 'start_at' | 'end_at' | 'max_runs' | 'note'>> & {
  thread_id?: string | null
  start_at?: string | null
  end_at?: string | null
  max_runs?: number | null
  note?: string | null
}

/** Exactly one of them says when a schedule is due. */
const ways = ['cron', 'interval_seconds', 'at'] as const

/** The times that a request asks for. Throws `invalid_input` and names the member. */
export function timingOf(given: TimingRequest): ScheduleTiming {
  const [first, second] = ways.filter((way) => given[way] !== undefined)
  if (first === undefined) throw invalidInput(['body', 'cron'], 'is required, or interval_seconds, or at', 'missing')
  if (second !== undefined) throw invalidInput(['body', second], `cannot be given beside ${first}`)
  return {
    ...(given.cron === undefined ? {} : { cron: given.cron }),
    ...(given.interval_seconds === undefined ? {} : { interval_seconds: given.interval_seconds }),
    ...(given.at === undefined ? {} : { at: wholeSecond(given.at) }),
    timezone: given.timezone ?? 'UTC',
    ...(given.start_at === undefined ? {} : { start_at: wholeSecond(given.start_at) }),
    ...(given.end_at === undefined ? {} : { end_at: wholeSecond(given.end_at) }),
  }
}

/** The times after a change; undefined if it does not concern them. */
export function changedTiming(before: ScheduleTiming, changes: ScheduleChanges): ScheduleTiming | undefined {
  const members = [...ways, 'timezone', 'start_at', 'end_at'] as const
  if (members.every((member) => changes[member] === undefined)) return undefined
  const isOtherWay = ways.some((way) => changes[way] !== undefined)
  const known = Object.fromEntries(
    Object.entries({
      ...(isOtherWay ? {} : { cron: before.cron, interval_seconds: before.interval_seconds, at: iso(before.at) }),
      timezone: before.timezone,
      start_at: iso(before.start_at),
      end_at: iso(before.end_at),
      ...Object.fromEntries(
        members.flatMap((member) => (changes[member] === undefined ? [] : [[member, changes[member]]])),
      ),
    }).filter(([, value]) => value !== undefined && value !== null),
  )
  return timingOf(known)
}

/** Throws `invalid_input` for times that are wrong, or of which none is left. */
export function checkTiming(timing: ScheduleTiming & { created_at: Date }, now: Date): void {
  checkTimes(timing)
  if (nextTimes(timing, now, 1).length > 0) return
  if (timing.at !== undefined) throw invalidInput(['body', 'at'], 'must be in the future, between start_at and end_at')
  if (timing.cron !== undefined && timing.end_at === undefined)
    throw invalidInput(['body', 'cron'], 'is never due: the clocks of its time zone skip each of its times')
  throw invalidInput(['body', 'end_at'], 'leaves no time at which the schedule is due')
}

/** Throws `invalid_input` for times that are wrong. */
export function checkTimes({ cron, at, timezone, start_at: start, end_at: end }: ScheduleTiming): void {
  for (const [member, time] of Object.entries({ at, start_at: start }))
    if (time !== undefined && time.getUTCFullYear() > lastYear)
      throw invalidInput(['body', member], `must not be later than the year ${lastYear}`)
  if (!isTimezone(timezone)) throw invalidInput(['body', 'timezone'], 'is not the name of a time zone')
  const problem = cron === undefined ? undefined : problemOfCron(cron)
  if (problem !== undefined) throw invalidInput(['body', 'cron'], problem)
  if (start !== undefined && end !== undefined && end <= start)
    throw invalidInput(['body', 'end_at'], 'must be after start_at')
}

const iso = (time: Date | undefined) => time?.toISOString()

/** Temporal's times are whole seconds. */
function wholeSecond(time: string): Date {
  return new Date(Math.floor(Date.parse(time) / 1000) * 1000)
}
