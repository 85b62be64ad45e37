import type { Collections } from '../collections.ts'
import { leasedSweep } from '../leased-sweep.ts'
import { scheduleRunStore, scheduleStore } from '../stores/schedules.ts'
import type { Timetable } from './timetable.ts'

interface SyncDeps {
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
  const schedules = scheduleStore(collections)

  return async (scheduleId: string): Promise<void> => {
    for (let tries = 1; tries <= triesMax; tries++) {
      const schedule = await schedules.findOfAny(scheduleId)
      if (schedule === null) return
      if (schedule.deleting) return remove(scheduleId)
      await timetable.put(schedule)
      const later = new Date(Date.now() + compareEveryMs * (0.5 + Math.random()))
      if (await schedules.noteCompared(schedule, later)) return
      // A put beside the removal has brought it back.
      if (!(await schedules.existsOfAny(scheduleId))) return timetable.remove(scheduleId)
    }
  }

  async function remove(scheduleId: string): Promise<void> {
    await timetable.remove(scheduleId)
    await scheduleRunStore(collections).removeOfSchedule(scheduleId)
    await schedules.removeDeletingOfAny(scheduleId)
  }
}

const maxPerRound = 500

interface SweepDeps {
  collections: Pick<Collections, 'schedules' | 'scheduleRuns'>
  sync: SyncSchedule
  /** Starts the workflow that follows a triggered run, unless it runs. */
  followAgain(runKey: string): Promise<void>
  onError(error: unknown): void
}

/** Compares schedules that are due with Temporal, and sees to it that triggered runs are followed. */
export function createScheduleSweep({ collections, sync, followAgain, onError }: SweepDeps) {
  const schedules = scheduleStore(collections)
  const scheduleRuns = scheduleRunStore(collections)

  const shared = { onError, perRound: maxPerRound }

  /** One round. */
  return async (): Promise<void> => {
    await leasedSweep({ ...shared, due: (now) => schedules.leaseDueOfAny(now, leaseMs), work: sync })
    await leasedSweep({ ...shared, due: (now) => scheduleRuns.leaseDueOfAny(now, leaseMs), work: followAgain })
  }
}
