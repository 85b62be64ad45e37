import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { callerOf, sessionOf } from '../../plugins/authentication.ts'
import { PathId, refusals } from '../schemas.ts'
import { Schedule, ScheduleUpdateRequest } from './schemas.ts'
import { createToSchedule } from './to-schedule.ts'

const config = { auth: 'project' } as const
const tags = ['schedules']
const params = Type.Object({ schedule_id: PathId })

/** Changes of schedules, and their end. */
export const scheduleChangeRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'schedules' | 'makers'>> = async (
  app,
  { schedules, makers },
) => {
  const toAnswer = createToSchedule({ schedules, makers })

  app.patch(
    '/schedules/:schedule_id',
    {
      config: { ...config, audit: 'successes', largeBody: 'messages' },
      schema: {
        operationId: 'schedules.update',
        summary: 'Change a schedule, pause it or continue it; null removes an optional member',
        tags,
        params,
        body: ScheduleUpdateRequest,
        response: { 200: Schedule, ...refusals(401, 403, 404, 503) },
      },
    },
    async (request) => {
      const schedule = await schedules.update(callerOf(request), request.params.schedule_id, request.body)
      return toAnswer(request, schedule)
    },
  )

  app.post(
    '/schedules/:schedule_id/take-over',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'schedules.takeOver',
        summary: 'Make a schedule your own whose maker has left the project, and continue it',
        tags,
        params,
        response: { 200: Schedule, ...refusals(401, 403, 404, 409, 503) },
      },
    },
    async (request) => toAnswer(request, await schedules.takeOver(callerOf(request), request.params.schedule_id)),
  )

  app.delete(
    '/schedules/:schedule_id',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'schedules.delete',
        summary: 'Delete a schedule and the list of its runs; the runs themselves stay in their threads',
        tags,
        params,
        response: { 200: Type.Object({ deleted: Type.Boolean() }), ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      await schedules.remove(sessionOf(request).user._id, request.params.schedule_id)
      return { deleted: true }
    },
  )
}
