import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { checkTiming, timingOf } from '../../../services/schedules/schedule-request.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { belongsTo, once, orNull } from '../../plugins/idempotency.ts'
import { NewestPage, linkNextPart } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import {
  NextTimes,
  Schedule,
  ScheduleCreateRequest,
  ScheduleList,
  ScheduleRun,
  ScheduleRunList,
  ScheduleTimingRequest,
  ScheduleUpdateRequest,
  scheduleRunView,
  scheduleView,
  timesView,
} from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['schedules']
const params = Type.Object({ schedule_id: PathId })

/** `/schedules`: runs that begin by themselves. */
export const scheduleRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'schedules'>> = async (app, { schedules }) => {
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
      const { user, projectId } = sessionOf(request)
      const caller = { userId: user._id, projectId }
      const schedule = await once(request, {
        create: (id) => schedules.create(caller, id, request.body),
        find: (id) => orNull(schedules.get(user._id, id)),
      })
      belongsTo(request, schedule.assistant_id)
      return scheduleView(schedule)
    },
  )

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
      return { next_runs: timesView(timing) }
    },
  )

  app.get(
    '/schedules/',
    {
      config,
      schema: {
        operationId: 'schedules.list',
        summary: 'The schedules of the project, newest first',
        tags,
        querystring: NewestPage,
        response: { 200: ScheduleList, ...refusals(401, 403) },
      },
    },
    async (request, reply) => {
      const { user, projectId } = sessionOf(request)
      const page = await schedules.list({ userId: user._id, projectId }, request.query)
      linkNextPart(request, reply, page)
      return { schedules: page.entries.map(scheduleView), ...request.query }
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
    async (request) => scheduleView(await schedules.get(sessionOf(request).user._id, request.params.schedule_id)),
  )

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
    async (request) =>
      scheduleView(await schedules.update(sessionOf(request).user._id, request.params.schedule_id, request.body)),
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
      return scheduleRunView(started)
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
      return { runs: page.entries.map(scheduleRunView), ...request.query }
    },
  )
}
