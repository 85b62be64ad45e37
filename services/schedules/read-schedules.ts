import { AppError } from '../../domain/errors.ts'
import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { Collections } from '../collections.ts'
import { type Caller, mayEdit } from '../owner.ts'
import { type Page, type PageRange } from '../page.ts'
import { scheduleStore } from '../stores/schedules.ts'

export type ScheduleReads = ReturnType<typeof createScheduleReads>

export function createScheduleReads(collections: Pick<Collections, 'schedules'>) {
  const store = scheduleStore(collections)
  return {
    /** The schedules of the token's project, newest first; editors see those that wait to be taken over, too. */
    list: (caller: Caller, range: PageRange): Promise<Page<ScheduleRecord>> =>
      store.listOwned(caller, range, seesLeft(caller)),

    get: async (userId: string, scheduleId: string): Promise<ScheduleRecord> =>
      found(await store.findOwned(userId, scheduleId)),
    /** With the bytes of the images and files of its input. */
    getWhole: async (userId: string, scheduleId: string): Promise<ScheduleRecord> =>
      found(await store.findOwnedWhole(userId, scheduleId)),

    /** One's own, or one that waits for an editor of the project to take it over. */
    async see(caller: Caller, scheduleId: string): Promise<ScheduleRecord> {
      const schedule = found(await store.findPresentOfAny(scheduleId))
      const { user_id: userId, project_id: projectId, awaits_takeover: isLeft = false } = schedule
      if (userId === caller.userId || (isLeft && projectId === caller.projectId && mayEdit(caller))) return schedule
      throw missing()
    },
  }
}

/** Editors of a shared project see the schedules whose makers have left it, too. */
function seesLeft(caller: Caller): boolean {
  return (caller.holderId !== undefined || caller.isShared === true) && mayEdit(caller)
}

export const missing = () => new AppError('not_found', 'There is no such schedule.')

function found(schedule: ScheduleRecord | null): ScheduleRecord {
  if (schedule === null) throw missing()
  return schedule
}
