import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { Collections } from '../collections.ts'
import type { Timetable } from './timetable.ts'

export interface SyncDeps {
  collections: Pick<Collections, 'schedules' | 'scheduleRuns'>
  timetable: Timetable
}

/** Longer than a comparison takes. If a process dies during one, another compares the schedule after this time. */
const leaseMs = 60_000
/** How often a schedule is compared although nothing was changed, because Temporal may have lost it. */
const compareEveryMs = 3_600_000
const triesMax = 5

export type SyncSchedule = ReturnType<typeof createSyncSchedule>

/**
 * Makes a schedule at Temporal what its record says, or removes both if it is being deleted. Every change of a record
 * sets `check_at`, so that a worker does this if the process that made the change dies before. Safe to repeat; of
 * several at once the last sees the newest record, because each looks again afterwards whether its record was it.
 */
export function createSyncSchedule({ collections, timetable }: SyncDeps) {
  const { schedules, scheduleRuns } = collections

  return async (scheduleId: string): Promise<void> => {
    for (let tries = 1; tries <= triesMax; tries++) {
      const schedule = await schedules.findById(scheduleId).lean<ScheduleRecord>()
      if (schedule === null) return
      if (schedule.deleting) return remove(scheduleId)
      await timetable.put(schedule)
      const later = new Date(Date.now() + compareEveryMs * (0.5 + Math.random()))
      const { matchedCount } = await schedules.updateOne(
        { _id: scheduleId, revision: schedule.revision, deleting: { $ne: true } },
        { $set: { check_at: later } },
        { timestamps: false },
      )
      if (matchedCount > 0) return
      // A put beside the removal has brought it back.
      if ((await schedules.exists({ _id: scheduleId })) === null) return timetable.remove(scheduleId)
    }
  }

  async function remove(scheduleId: string): Promise<void> {
    await timetable.remove(scheduleId)
    await scheduleRuns.deleteMany({ schedule_id: scheduleId })
    await schedules.deleteOne({ _id: scheduleId, deleting: true })
  }
}

const maxPerRound = 500
/** So many failures in a row are caused by a dependency, not by a schedule. */
const maxFailures = 3

interface SweepDeps {
  collections: Pick<Collections, 'schedules' | 'scheduleRuns'>
  sync: SyncSchedule
  /** Starts the workflow that follows a triggered run, unless it runs. */
  followAgain(runKey: string): Promise<void>
  onError(error: unknown): void
}

/** Compares schedules that are due with Temporal, and sees to it that triggered runs are followed. */
export function createScheduleSweep({ collections, sync, followAgain, onError }: SweepDeps) {
  const { schedules, scheduleRuns } = collections

  /** `next` takes the lease of one that is due, and returns its id. */
  async function sweep(next: (now: number) => Promise<string | undefined>, work: (id: string) => Promise<void>) {
    let failures = 0
    for (let count = 0; count < maxPerRound && failures < maxFailures; count++) {
      const id = await next(Date.now())
      if (id === undefined) return
      try {
        await work(id)
        failures = 0
      } catch (error) {
        onError(error)
        failures += 1
      }
    }
  }

  /** One round. */
  return async (): Promise<void> => {
    const due = (now: number) => ({ check_at: { $lt: new Date(now) } })
    const lease = (now: number) => ({ $set: { check_at: new Date(now + leaseMs) } })
    const oldest = { sort: { check_at: 1 }, projection: { _id: 1 } } as const
    await sweep(async (now) => (await schedules.findOneAndUpdate(due(now), lease(now), oldest).lean())?._id, sync)
    await sweep(
      async (now) => (await scheduleRuns.findOneAndUpdate(due(now), lease(now), oldest).lean())?._id,
      followAgain,
    )
  }
}
