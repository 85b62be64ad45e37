import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { nextTimes } from '../../../domain/schedules/next-times.ts'
import { nextRunsShown } from '../../../services/schedules/next-runs.ts'
import { checkTiming, timingOf } from '../../../services/schedules/schedule-request.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { belongsTo, once } from '../../plugins/idempotency.ts'
import { NewestPage, linkNextPart } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import { NextTimes, ScheduleRun, ScheduleRunList, ScheduleTimingRequest, toScheduleRun } from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['schedules']
const params = Type.Object({ schedule_id: PathId })

/** When schedules run and have run, and runs that are started by hand. */
export const scheduleRunRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'schedules'>> = async (app, { schedules }) => {
  app.post(
    '/schedules/preview',
    {
      config,
      schema: {
        operationId: 'schedules.preview',
        summary: 'The next five times of a schedule that is not stored',
        tags,
        body: ScheduleTimingRequest,
        response: { 200: NextTimes, ...refusals(401, 403) },
      },
    },
    async (request) => {
      const now = new Date()
      const timing = { ...timingOf(request.body), created_at: now }
      checkTiming(timing, now)
      return { next_runs: nextTimes(timing, now, nextRunsShown).map((time) => time.toISOString()) }
    },
  )

  app.post(
    '/schedules/:schedule_id/trigger',
    {
      config: { ...config, idempotent: true, audit: 'successes', limits: ['runs_user'] },
      schema: {
        operationId: 'schedules.trigger',
        summary: 'Start a run of a schedule now',
        tags,
        params,
        response: { 200: ScheduleRun, ...refusals(401, 403, 404, 503) },
      },
    },
    async (request) => {
      const userId = sessionOf(request).user._id
      const { schedule_id: scheduleId } = request.params
      const started = await once(request, {
        create: (runId) => schedules.trigger(userId, scheduleId, runId),
        find: (runId) => schedules.triggered(userId, scheduleId, runId),
      })
      belongsTo(request, started.scheduled.thread_id)
      return toScheduleRun(started)
    },
  )

  app.get(
    '/schedules/:schedule_id/runs',
    {
      config,
      schema: {
        operationId: 'schedules.runs',
        summary: 'The runs of a schedule, newest first',
        tags,
        params,
        querystring: NewestPage,
        response: { 200: ScheduleRunList, ...refusals(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const page = await schedules.runs(sessionOf(request).user._id, request.params.schedule_id, request.query)
      linkNextPart(request, reply, page)
      return { runs: page.entries.map(toScheduleRun), ...request.query }
    },
  )
}
