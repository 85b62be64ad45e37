import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { personOf } from '../../../services/owner.ts'
import { callerOf, sessionOf } from '../../plugins/authentication.ts'
import { belongsTo, once, orNull } from '../../plugins/idempotency.ts'
import { NewestPage, linkNextPart } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import { Schedule, ScheduleCreateRequest, ScheduleList, makerOf, toSchedule } from './schemas.ts'
import { createToSchedule } from './to-schedule.ts'

const config = { auth: 'project' } as const
const tags = ['schedules']
const params = Type.Object({ schedule_id: PathId })

/** `/schedules`: make, list and read schedules. */
export const scheduleRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'schedules' | 'makers'>> = async (
  app,
  { schedules, makers },
) => {
  const toAnswer = createToSchedule({ schedules, makers })

  app.post(
    '/schedules/',
    {
      config: { ...config, idempotent: true, audit: 'successes', largeBody: 'messages' },
      schema: {
        operationId: 'schedules.create',
        summary: 'Run an assistant at certain times',
        tags,
        body: ScheduleCreateRequest,
        response: { 200: Schedule, ...refusals(401, 403, 404, 503) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const maker = { madeBy: 'user' as const, person: personOf(caller) }
      const schedule = await once(request, {
        create: (id) => schedules.create(caller, id, request.body, maker),
        find: (id) => orNull(schedules.get(caller.userId, id)),
      })
      belongsTo(request, schedule.assistant_id)
      return toAnswer(request, schedule)
    },
  )

  app.get(
    '/schedules/',
    {
      config,
      schema: {
        operationId: 'schedules.list',
        summary: 'Your schedules in the project, newest first; for editors also those whose makers have left',
        tags,
        querystring: NewestPage,
        response: { 200: ScheduleList, ...refusals(401, 403) },
      },
    },
    async (request, reply) => {
      const page = await schedules.list(callerOf(request), request.query)
      linkNextPart(request, reply, page)
      const nextRuns = await schedules.nextRunsOfAll(page.entries)
      const known = await makers(page.entries.map(makerOf), [sessionOf(request).user])
      return {
        schedules: page.entries.map((one, at) => toSchedule(one, nextRuns[at] ?? [], known)),
        ...request.query,
      }
    },
  )

  app.get(
    '/schedules/:schedule_id',
    {
      config,
      schema: {
        operationId: 'schedules.read',
        summary: 'Read a schedule and its next times',
        tags,
        params,
        response: { 200: Schedule, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const schedule = await schedules.see(callerOf(request), request.params.schedule_id)
      return toAnswer(request, schedule)
    },
  )
}
