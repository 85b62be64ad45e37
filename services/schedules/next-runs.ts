import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import { meetsRepeatedHour, nextTimes } from '../../domain/schedules/next-times.ts'
import { createTurns } from '../turns.ts'
import type { Timetable } from './timetable.ts'

/** How many of the next times of a schedule are shown. */
export const nextRunsShown = 5
const minuteMs = 60_000

export interface NextRunsDeps {
  timetable: Pick<Timetable, 'nextTimes'>
  onError(error: unknown): void
}

/**
 * The next times of a stored schedule, without jitter; none while it is paused. They are computed here, except beside an
 * hour that comes twice: then they are what Temporal says, if it can be asked.
 */
export function createNextRuns({ timetable, onError }: NextRunsDeps) {
  async function nextRuns(schedule: ScheduleRecord): Promise<Date[]> {
    if (schedule.paused) return []
    const left = (schedule.max_runs ?? Infinity) - schedule.runs_made
    const count = Math.min(nextRunsShown, Math.max(0, left))
    const now = new Date()
    const computed = nextTimes(schedule, now, count)
    // With more jitter, the time without it cannot be read from what Temporal says.
    const isReadable = schedule.jitter_seconds * 1000 < minuteMs
    if (!isReadable || !meetsRepeatedHour(schedule, now, computed)) return computed
    try {
      const reported = await timetable.nextTimes(schedule._id)
      return (
        reported?.slice(0, count).map((time) => new Date(Math.floor(time.getTime() / minuteMs) * minuteMs)) ?? computed
      )
    } catch (error) {
      onError(error)
      return computed
    }
  }
  return {
    nextRuns,

    /** The same for many schedules. */
    async nextRunsOfAll(schedules: readonly ScheduleRecord[]): Promise<Date[][]> {
      const turns = createTurns()
      const pending: Promise<Date[]>[] = []
      for (const schedule of schedules) {
        pending.push(nextRuns(schedule))
        await turns.next()
      }
      return Promise.all(pending)
    },
  }
}
