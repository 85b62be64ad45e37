import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOverlapPolicy,
  type ScheduleSpec,
  isGrpcServiceError,
} from '@temporalio/client'
import { queueName } from '../../domain/contracts/queues.ts'
import { scheduleRunContract } from '../../domain/contracts/schedule-run.ts'
import { searchAttributePairs } from '../../domain/contracts/search-attributes.ts'
import { startOptions } from '../../domain/contracts/workflow-contract.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import type { OverlapPolicy, ScheduleRecord } from '../../domain/records/schedule.ts'
import { firstOfInterval } from '../../domain/schedules/next-times.ts'
import type { Timetable } from '../../services/schedules/timetable.ts'
import type { Settings } from '../config.ts'

const prefix = 'schedule/'

/** Owners that one query names; each id has at most 128 characters. */
const ownersOfQuery = 50

/** gRPC's code of a request that can never succeed. */
const invalidArgument = 3

const overlapOf = {
  skip: 'SKIP',
  buffer_one: 'BUFFER_ONE',
  cancel_other: 'CANCEL_OTHER',
} as const satisfies Record<OverlapPolicy, ScheduleOverlapPolicy>

const attributeOf = { user: 'UserId', project: 'ProjectId', assistant: 'AssistantId' } as const

/** The schedules of users at Temporal. Every call ends within the deadline of the settings. */
export function createTimetable(
  client: Client,
  { taskQueuePrefix, dependencyTimeoutSeconds }: Pick<Settings, 'taskQueuePrefix' | 'dependencyTimeoutSeconds'>,
): Timetable {
  async function withDeadline<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await client.withDeadline(Date.now() + dependencyTimeoutSeconds * 1000, call)
    } catch (error) {
      if (!isGrpcServiceError(error)) throw error
      if (error.code === invalidArgument) throw invalidInput(['body', 'cron'], 'is not known to Temporal')
      throw new AppError('unavailable', 'The service is busy or partly down; try again soon.', { cause: error })
    }
  }

  return {
    put: (schedule) =>
      withDeadline(async () => {
        const wanted = optionsOf(schedule, taskQueuePrefix)
        const handle = client.schedule.getHandle(prefix + schedule._id)
        const update = () => handle.update((current) => ({ ...current, ...wanted }))
        const create = () => {
          const start = startOf(schedule)
          return client.schedule.create({
            scheduleId: prefix + schedule._id,
            typedSearchAttributes: searchAttributePairs(scheduleRunContract.attributes(start)),
            ...wanted,
          })
        }
        // Most are new, or changed by their owners.
        if (schedule.revision > 1) {
          try {
            return await update()
          } catch (error) {
            if (!(error instanceof ScheduleNotFoundError)) throw error
          }
        }
        try {
          await create()
        } catch (error) {
          if (!(error instanceof ScheduleAlreadyRunning)) throw error
          await update()
        }
      }),

    async remove(scheduleId) {
      try {
        await withDeadline(() => client.schedule.getHandle(prefix + scheduleId).delete())
      } catch (error) {
        if (!(error instanceof ScheduleNotFoundError)) throw error
      }
    },

    nextTimes: (scheduleId) =>
      withDeadline(async () => {
        try {
          return (await client.schedule.getHandle(prefix + scheduleId).describe()).info.nextActionTimes
        } catch (error) {
          if (error instanceof ScheduleNotFoundError) return undefined
          throw error
        }
      }),

    async idsOf(owner, owners) {
      const ids: string[] = []
      for (let start = 0; start < owners.length; start += ownersOfQuery)
        await withDeadline(async () => {
          // Ids that clients choose have no quotation marks.
          const named = owners.slice(start, start + ownersOfQuery).map((id) => `"${id}"`)
          const query = `${attributeOf[owner]} IN (${named.join(', ')})`
          for await (const { scheduleId } of client.schedule.list({ query }))
            if (scheduleId.startsWith(prefix) && (await exists(scheduleId))) ids.push(scheduleId.slice(prefix.length))
        })
      return ids
    },
  }

  /** Temporal lists a schedule for a moment after it is gone. */
  async function exists(scheduleId: string): Promise<boolean> {
    try {
      await client.schedule.getHandle(scheduleId).describe()
      return true
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return false
      throw error
    }
  }
}

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
