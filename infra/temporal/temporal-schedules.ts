import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ServiceError,
  isGrpcServiceError,
} from '@temporalio/client'
import { type AppError, invalidInput } from '../../domain/errors.ts'
import type { Settings } from '../config.ts'
import { createPatientCalls } from './patient-calls.ts'

/** Owners that one query names; each id has at most 128 characters. */
const ownersOfQuery = 50

/** gRPC's code of a request that can never succeed. */
const invalidArgument = 3

const attributeOf = { user: 'UserId', project: 'ProjectId', assistant: 'AssistantId' } as const

interface Kind {
  /** Of the ids at Temporal. */
  prefix: string
  /** Where a request names the times. */
  at: { cron: string[]; timezone: string[] }
}

interface Wanted extends Omit<ScheduleOptions, 'scheduleId'> {
  id: string
  /** Whether it is probably there already. */
  isKnown: boolean
}

/** The schedules at Temporal whose ids begin with a prefix. Calls wait as those of workflows do. */
export function temporalSchedules(
  client: Client,
  settings: Pick<Settings, 'dependencyTimeoutSeconds'>,
  { prefix, at }: Kind,
) {
  const callOf = createPatientCalls(settings)
  const patiently = <T>(ask: () => Promise<T>): Promise<T> => callOf(client, ask)

  /** Undefined if there is no such schedule. */
  async function ifThere<T>(id: string, call: (handle: ScheduleHandle) => Promise<T>): Promise<T | undefined> {
    try {
      return await patiently(() => call(client.schedule.getHandle(prefix + id)))
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return undefined
      throw error
    }
  }

  async function createOrUpdate({ id, isKnown, typedSearchAttributes, ...wanted }: Wanted): Promise<void> {
    const handle = client.schedule.getHandle(prefix + id)
    const update = () => handle.update(({ state, ...current }) => ({ ...current, state, ...wanted }))
    const attributes = typedSearchAttributes === undefined ? {} : { typedSearchAttributes }
    const create = () => client.schedule.create({ scheduleId: prefix + id, ...attributes, ...wanted })
    if (isKnown) {
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
  }

  /** The API has checked the times; but a newer time zone, for example, may be unknown to the server. */
  function refusedTimes(problem: string): AppError {
    return /time ?zone/i.test(problem)
      ? invalidInput(at.timezone, 'is not a time zone that this service knows')
      : invalidInput(at.cron, 'is not a time that this service knows')
  }

  function asRefusedTimes(error: unknown): unknown {
    // The client has an error of its own for times, and puts most others into another of its own.
    if (error instanceof TypeError) return refusedTimes(error.message)
    const cause = error instanceof ServiceError ? error.cause : error
    return isGrpcServiceError(cause) && cause.code === invalidArgument ? refusedTimes(cause.details) : error
  }

  return {
    /** Makes the schedule at Temporal what is wanted. */
    put: (wanted: Wanted): Promise<void> =>
      patiently(async () => {
        try {
          await createOrUpdate(wanted)
        } catch (error) {
          throw asRefusedTimes(error)
        }
      }),

    async remove(scheduleId: string): Promise<void> {
      await ifThere(scheduleId, (handle) => handle.delete())
    },

    nextTimes: (scheduleId: string): Promise<Date[] | undefined> =>
      ifThere(scheduleId, async (handle) => (await handle.describe()).info.nextActionTimes),

    exists: async (scheduleId: string): Promise<boolean> =>
      (await ifThere(scheduleId, (handle) => handle.describe())) !== undefined,

    async idsOf(owner: keyof typeof attributeOf, owners: string[]): Promise<string[]> {
      const ids: string[] = []
      for (let start = 0; start < owners.length; start += ownersOfQuery)
        await patiently(async () => {
          // Ids that clients choose have no quotation marks.
          const named = owners.slice(start, start + ownersOfQuery).map((id) => `"${id}"`)
          const query = `${attributeOf[owner]} IN (${named.join(', ')})`
          for await (const { scheduleId } of client.schedule.list({ query }))
            if (scheduleId.startsWith(prefix)) ids.push(scheduleId.slice(prefix.length))
        })
      return ids
    },
  }
}
