import { Cron } from 'croner'
import type { ScheduleTiming } from '../records/schedule.ts'

const hourMs = 3_600_000
/** Longer than any change of summer time. */
const longestShiftMs = 3 * hourMs
/** Temporal knows no later times. */
export const lastYear = 2100
/** A schedule whose times the clocks skip one after the other is never due: summer time skips an hour or two. */
const skippedMax = 200

/** Five fields of numbers, three-letter names, ranges, steps and lists: what croner and Temporal read in the same way. */
const field = String.raw`(?:\*|[0-9]{1,2}|[A-Za-z]{3})(?:-(?:[0-9]{1,2}|[A-Za-z]{3}))?(?:/[0-9]{1,2})?`
const cronPattern = new RegExp(`^${Array.from({ length: 5 }, () => `${field}(?:,${field})*`).join(' ')}$`)

/** What is wrong with a cron expression; undefined if nothing is. */
export function problemOfCron(expression: string): string | undefined {
  if (!cronPattern.test(expression))
    return 'must have five fields, separated by one space: minute, hour, day of the month, month, day of the week'
  try {
    return wallTimes(expression, Date.UTC(2026, 0, 1)).next().done ? 'never matches a time' : undefined
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^CronPattern: /, '') : 'is not valid'
  }
}

export function isTimezone(name: string): boolean {
  try {
    wallClockOf(name)
    // Offsets such as +02:00 are time zones to JavaScript, but not to Temporal.
    return /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)
  } catch {
    return false
  }
}

/**
 * The next moments at which a schedule is due, in order; fewer if there are no more. As Temporal counts them: a cron
 * expression is due when the clocks of its time zone match all of its fields (also day of the month and day of the
 * week at once). A time that summer time skips is left out, and one that comes twice is due once.
 */
export function nextTimes(timing: ScheduleTiming & { created_at: Date }, after: Date, count: number): Date[] {
  const from = Math.max(after.getTime(), (timing.start_at?.getTime() ?? 0) - 1)
  const until = timing.end_at?.getTime() ?? Infinity
  const times: Date[] = []
  if (count <= 0) return times
  for (const moment of momentsOf(timing, from)) {
    if (moment > until) break
    times.push(new Date(moment))
    if (times.length >= count) break
  }
  return times
}

/**
 * Whether a cron expression has times beside an hour that the clocks show twice. Temporal treats such hours in its own way
 * (some times come once, some twice), so that it has to be asked.
 */
export function meetsRepeatedHour({ cron, timezone }: ScheduleTiming, after: Date, times: Date[]): boolean {
  if (cron === undefined) return false
  const clock = wallClockOf(timezone)
  // Within these hours, the clocks go on by less than the time that passes.
  return [after, ...times].some(
    (time) =>
      clock.at(time.getTime() + longestShiftMs) - clock.at(time.getTime() - longestShiftMs) < 2 * longestShiftMs,
  )
}

/** Intervals are counted from the start, or else from the creation. */
export function firstOfInterval({ start_at, created_at }: Pick<ScheduleTiming, 'start_at'> & { created_at: Date }) {
  return Math.floor((start_at ?? created_at).getTime() / 1000)
}

function momentsOf(timing: ScheduleTiming & { created_at: Date }, after: number): Iterable<number> {
  if (timing.cron !== undefined) return cronMoments(timing.cron, wallClockOf(timing.timezone), after)
  if (timing.interval_seconds !== undefined)
    return intervalMoments(timing.interval_seconds * 1000, firstOfInterval(timing) * 1000, after)
  const at = timing.at?.getTime() ?? 0
  return at > after ? [at] : []
}

function* intervalMoments(intervalMs: number, firstMs: number, after: number): Generator<number, undefined> {
  const phase = firstMs % intervalMs
  for (let moment = (Math.floor((after - phase) / intervalMs) + 1) * intervalMs + phase; ; moment += intervalMs)
    yield moment
}

function* cronMoments(expression: string, clock: WallClock, after: number): Generator<number, undefined> {
  let skipped = 0
  const from = isShiftedAt(clock, after) ? clock.at(after) - longestShiftMs : clock.at(after)
  for (const wall of wallTimes(expression, from)) {
    const moment = clock.momentOf(wall)
    skipped = moment === undefined ? skipped + 1 : 0
    if (skipped > skippedMax) return
    if (moment !== undefined && moment > after) yield moment
  }
}

/** Whether the clocks go on by more or less than the time that passes, in the hours around a moment. */
function isShiftedAt(clock: WallClock, moment: number): boolean {
  return clock.at(moment + longestShiftMs) - clock.at(moment - longestShiftMs) !== 2 * longestShiftMs
}

/** The matching wall-clock times after `from`. */
function* wallTimes(expression: string, from: number): Generator<number, undefined> {
  const cron = new Cron(expression, { timezone: 'UTC', mode: '5-part', domAndDow: true, paused: true })
  for (let last = new Date(from); ;) {
    const next = cron.nextRun(last)
    if (next === null || next.getUTCFullYear() > lastYear) return
    yield next.getTime()
    last = next
  }
}

/**
 * Times of a time zone. A wall-clock time is written as the UTC time with the same figures; in the hours of a change of
 * summer time, it can belong to no moment or to two.
 */
interface WallClock {
  /** Milliseconds, with the figures of the zone read as UTC. */
  at(moment: number): number
  /**
   * The moment of a wall-clock time; undefined if the clocks skip it. Of two moments it is one, as with Temporal; which
   * one Temporal chooses is not promised.
   */
  momentOf(wall: number): number | undefined
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Throws `RangeError` for a name that is no time zone. */
function wallClockOf(timezone: string): WallClock {
  const format = formatterOf(timezone)
  const at = (moment: number) => {
    const parts: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(moment)) parts[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
  return {
    at,
    momentOf(wall) {
      const first = wall - offsetAt(at, wall)
      if (at(first) === wall) return first
      const second = wall - offsetAt(at, first)
      return at(second) === wall ? second : undefined
    },
  }
}

function offsetAt(at: WallClock['at'], moment: number): number {
  return at(moment) - moment
}

/** Kept, because making one takes longer than using it a hundred times. There are a few hundred zones. */
function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formatters.set(timezone, made)
  return made
}
