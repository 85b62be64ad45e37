import type { Client, ScheduleOverlapPolicy, ScheduleSpec } from '@temporalio/client'
import { crawlContract } from '../../domain/contracts/crawl.ts'
import { scheduleRunContract } from '../../domain/contracts/schedule-run.ts'
import { queueName, searchAttributePairs, startOptions } from '../../domain/contracts/workflow-contract.ts'
import type { OverlapPolicy, ScheduleRecord } from '../../domain/records/schedule.ts'
import { firstOfInterval } from '../../domain/schedules/next-times.ts'
import type { Timetable } from '../../services/schedules/timetable.ts'
import type { RefreshTimetable } from '../../services/sources/refresh-timetable.ts'
import type { Settings } from '../config.ts'
import { temporalSchedules } from './temporal-schedules.ts'

const overlapOf = {
  skip: 'SKIP',
  buffer_one: 'BUFFER_ONE',
  cancel_other: 'CANCEL_OTHER',
} as const satisfies Record<OverlapPolicy, ScheduleOverlapPolicy>

/** The schedules of users at Temporal. */
export function createTimetable(
  client: Client,
  settings: Pick<Settings, 'taskQueuePrefix' | 'dependencyTimeoutSeconds'>,
): Timetable {
  const schedules = temporalSchedules(client, settings, {
    prefix: 'schedule/',
    at: { cron: ['body', 'cron'], timezone: ['body', 'timezone'] },
  })
  return {
    ...schedules,
    put: (schedule) =>
      schedules.put({
        id: schedule._id,
        // Most are new, or changed by their owners.
        isKnown: schedule.revision > 1,
        typedSearchAttributes: searchAttributePairs(scheduleRunContract.attributes(startOf(schedule))),
        ...optionsOf(schedule, settings.taskQueuePrefix),
      }),
  }
}

/** The schedules at Temporal that crawl sources again. A crawl that takes longer than its period leaves the next one out. */
export function createRefreshTimetable(
  client: Client,
  settings: Pick<Settings, 'taskQueuePrefix' | 'dependencyTimeoutSeconds'>,
): RefreshTimetable {
  const schedules = temporalSchedules(client, settings, {
    prefix: 'source/',
    at: { cron: ['body', 'refresh', 'cron'], timezone: ['body', 'refresh', 'timezone'] },
  })
  return {
    ...schedules,
    async put(source) {
      if (source.refresh === undefined) return schedules.remove(source._id)
      const { cron, timezone = 'UTC', interval_seconds: seconds } = source.refresh
      const start = {
        sourceId: source._id,
        userId: source.user_id,
        assistantId: source.assistant_id,
      }
      const every = (seconds ?? 0) * 1000
      const spec: ScheduleSpec =
        cron === undefined
          ? { intervals: [{ every, offset: source.created_at.getTime() % every }] }
          : { cronExpressions: [cron], timezone }
      await schedules.put({
        id: source._id,
        isKnown: source.revision > 1,
        typedSearchAttributes: searchAttributePairs(crawlContract.attributes(start)),
        // Sources that are due at the same minute do not begin in the same second.
        spec: { ...spec, jitter: refreshJitterMs },
        action: {
          type: 'startWorkflow',
          workflowType: crawlContract.type.name,
          taskQueue: queueName(crawlContract.queue, settings.taskQueuePrefix),
          ...startOptions(crawlContract, start),
        },
        policies: { overlap: 'SKIP', catchupWindow: 3_600_000, pauseOnFailure: false },
      })
    },
  }
}

const refreshJitterMs = 60_000

const startOf = (schedule: ScheduleRecord) => ({
  scheduleId: schedule._id,
  userId: schedule.user_id,
  projectId: schedule.project_id,
  assistantId: schedule.assistant_id,
})

function optionsOf(schedule: ScheduleRecord, taskQueuePrefix: string) {
  const { max_runs: maxRuns, runs_made: made } = schedule
  const remaining = maxRuns === undefined ? undefined : Math.max(0, maxRuns - made)
  return {
    spec: specOf(schedule),
    action: {
      type: 'startWorkflow',
      workflowType: scheduleRunContract.type.name,
      taskQueue: queueName(scheduleRunContract.queue, taskQueuePrefix),
      // Temporal appends the time to the id.
      ...startOptions(scheduleRunContract, startOf(schedule)),
    } as const,
    policies: {
      overlap: overlapOf[schedule.overlap],
      catchupWindow: schedule.catchup_seconds * 1000,
      pauseOnFailure: false,
    },
    state: {
      // To Temporal, none left means that there is no limit.
      paused: schedule.paused || remaining === 0,
      ...(schedule.pause_reason === undefined ? {} : { note: schedule.pause_reason }),
      ...(remaining === undefined || remaining === 0 ? {} : { remainingActions: remaining }),
    },
  }
}

function specOf(schedule: ScheduleRecord): ScheduleSpec {
  const { cron, interval_seconds: intervalSeconds, at, timezone, start_at, end_at, jitter_seconds } = schedule
  const limits = {
    jitter: jitter_seconds * 1000,
    ...(start_at === undefined ? {} : { startAt: start_at }),
    ...(end_at === undefined ? {} : { endAt: end_at }),
  }
  if (cron !== undefined) return { cronExpressions: [cron], timezone, ...limits }
  if (intervalSeconds !== undefined) {
    const offset = (firstOfInterval(schedule) % intervalSeconds) * 1000
    return { intervals: [{ every: intervalSeconds * 1000, offset }], ...limits }
  }
  return { calendars: [calendarOf(at ?? new Date(0))], timezone: 'UTC', ...limits }
}

const months = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER',
] as const

function calendarOf(time: Date) {
  return {
    year: time.getUTCFullYear(),
    month: months[time.getUTCMonth()] ?? 'JANUARY',
    dayOfMonth: time.getUTCDate(),
    hour: time.getUTCHours(),
    minute: time.getUTCMinutes(),
    second: time.getUTCSeconds(),
  }
}
