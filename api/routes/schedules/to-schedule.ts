import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { ScheduleRecord } from '../../../domain/records/schedule.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { type Schedule, makerOf, toSchedule } from './schemas.ts'

/** Shows one schedule to whom it may be shown. */
export function createToSchedule({ schedules, makers }: Pick<Services, 'schedules' | 'makers'>) {
  return async (request: FastifyRequest, schedule: ScheduleRecord): Promise<Static<typeof Schedule>> => {
    const [nextRuns, known] = await Promise.all([
      schedules.nextRuns(schedule),
      makers([makerOf(schedule)], [sessionOf(request).user]),
    ])
    return toSchedule(schedule, nextRuns, known)
  }
}
