import { AppError } from '../../domain/errors.ts'
import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { type Page, type PageRange, readPage } from '../page.ts'

export type ScheduleReads = ReturnType<typeof createScheduleReads>

/** Selects schedules that are not being deleted. */
export const present = { deleting: { $ne: true } } as const
/** A schedule without its input. */
const restBytes = 5000

export function createScheduleReads({ schedules }: Pick<Collections, 'schedules'>) {
  return {
    /** The schedules of the token's project, newest first. */
    list: ({ userId, projectId }: Caller, range: PageRange): Promise<Page<ScheduleRecord>> =>
      readPage(
        schedules
          .find({ user_id: userId, project_id: projectId, ...present })
          .sort({ _id: -1 })
          .lean<ScheduleRecord>(),
        range,
        ({ input_json: input }) => Buffer.byteLength(input) + restBytes,
      ),

    get: (userId: string, scheduleId: string) => get(userId, scheduleId, ''),
    /** With the bytes of the images and files of its input. */
    getWhole: (userId: string, scheduleId: string) => get(userId, scheduleId, '+attachments'),
  }

  async function get(userId: string, scheduleId: string, members: string): Promise<ScheduleRecord> {
    const schedule = await schedules
      .findOne({ _id: scheduleId, user_id: userId, ...present })
      .select(members)
      .lean<ScheduleRecord>()
    if (schedule === null) throw missing()
    return schedule
  }
}

export const missing = () => new AppError('not_found', 'There is no such schedule.')
