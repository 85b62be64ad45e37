import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { invalidInput } from '../../../domain/errors.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { type Confirm, answerIsFollowed, followOnce, startOnce } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'
import { watchAccess } from '../../sse/watch-access.ts'
import { NewestPage, linkNextPart } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import {
  CreateRunPayload,
  ResumeHeaders,
  ResumePayload,
  Run,
  RunList,
  RunOutputPart,
  RunParams,
  RunWithOutput,
  StreamQuery,
  toRun,
  toWaitingCall,
} from './schemas.ts'
import { eventStream, streamRun } from './stream-run.ts'

const config = { auth: 'project' } as const
const tags = ['runs']

type Deps = Pick<Services, 'runs' | 'threads' | 'models' | 'sessions'> & { openStreams: OpenStreams }

/** `/runs`: start, stream, join, read, cancel and resume. */
export const runRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  await app.register(startRoutes, deps)
  await app.register(readRoutes, deps)
  await app.register(controlRoutes, deps)
  await app.register(listRoutes, deps)
}

const startRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { runs, models, openStreams }) => {
  const prepared = async (request: FastifyRequest<{ Body: CreateRunPayload }>, confirm: Confirm) => {
    const newRun = await runs.prepare(callerOf(request), request.body, 'chat')
    await confirm()
    return newRun
  }

  app.post(
    '/runs/stream',
    {
      config: { ...config, idempotent: true, staysOpen: true, limits: ['runs_user'], largeBody: 'messages' },
      schema: {
        operationId: 'runs.stream',
        summary: 'Run an assistant on a thread and stream its answer',
        tags,
        querystring: StreamQuery,
        body: CreateRunPayload,
        response: { ...eventStream, ...refusals(401, 402, 403, 404, 409, 503) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const followed = await followOnce(request, {
        start: (id, confirm) => runs.startFollowed(prepared(request, confirm), id),
        find: (id) => runs.get(caller, id),
        follow: (started) => runs.follow(started),
      })
      await answerIsFollowed(request)
      logRun(reply, followed.run)
      streamRun(reply, followed, { openStreams, mode: request.query.stream_mode ?? request.body.stream_mode })
      return reply
    },
  )

  app.post(
    '/runs/',
    {
      config: { ...config, idempotent: true, limits: ['runs_user'], largeBody: 'messages' },
      schema: {
        operationId: 'runs.create',
        summary: 'Run an assistant on a thread in the background',
        tags,
        body: CreateRunPayload,
        response: { 200: Run, ...refusals(401, 402, 403, 404, 409, 503) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const run = await startOnce(request, {
        start: async (id, confirm) => runs.start(await prepared(request, confirm), id),
        find: (id) => runs.get(caller, id),
      })
      logRun(reply, run)
      reply.header('content-location', `/runs/${run._id}`)
      return toRun(run, models.current().prices)
    },
  )
}

const readRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { runs, models, sessions, openStreams }) => {
  app.get(
    '/runs/:run_id',
    {
      config,
      schema: {
        operationId: 'runs.read',
        summary: 'State and output of a run',
        tags,
        params: RunParams,
        querystring: RunOutputPart,
        response: { 200: RunWithOutput, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const run = await runs.get(callerOf(request), request.params.run_id)
      const { messages, omitted } = await runs.output(run, request.query.before)
      const waiting = await runs.waitingCalls(run)
      const shown = {
        ...toRun(run, models.current().prices),
        output: messages,
        waiting_calls: waiting.map(toWaitingCall),
      }
      return { ...shown, ...(omitted === 0 ? {} : { omitted_messages: omitted }) }
    },
  )

  app.get(
    '/runs/:run_id/stream',
    {
      config: { ...config, staysOpen: true },
      schema: {
        operationId: 'runs.join',
        summary: 'Join the stream of a run, or resume it with Last-Event-ID',
        tags,
        params: RunParams,
        querystring: StreamQuery,
        headers: ResumeHeaders,
        response: { ...eventStream, ...refusals(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const run = await runs.get(callerOf(request), request.params.run_id)
      logRun(reply, run)
      const feed = await runs.follow(run)
      const after = request.headers['last-event-id']
      const stream = streamRun(reply, { run, feed }, { openStreams, after, mode: request.query.stream_mode })
      const unwatch = watchAccess(request, { sessions }, stream.stop)
      void stream.finished.finally(unwatch)
      return reply
    },
  )
}

const controlRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { runs, models }) => {
  app.post(
    '/runs/:run_id/cancel',
    {
      config,
      schema: {
        operationId: 'runs.cancel',
        summary: 'Cancel a run; a run that has ended does not change',
        tags,
        params: RunParams,
        response: { 200: Run, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const run = await runs.requireControl(callerOf(request), request.params.run_id)
      return toRun(await runs.cancel(run), models.current().prices)
    },
  )

  app.post(
    '/runs/:run_id/resume',
    {
      config: { ...config, largeBody: 'object', exactNumbers: true },
      schema: {
        operationId: 'runs.resume',
        summary: 'Decide about the tool calls for which an interrupted run waits, or send their results',
        tags,
        params: RunParams,
        body: ResumePayload,
        response: { 200: Run, ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) => {
      const { action, tool_outputs: outputs, ...decision } = request.body
      const run = await runs.requireControl(callerOf(request), request.params.run_id)
      if (outputs === undefined) {
        if (action === undefined) throw invalidInput(['body', 'action'], 'is required without tool_outputs', 'missing')
        return toRun(await runs.resume(run, { action, ...decision }), models.current().prices)
      }
      if (action !== undefined) throw invalidInput(['body', 'action'], 'cannot be sent together with tool_outputs')
      return toRun(await runs.submitOutputs(run, outputs), models.current().prices)
    },
  )
}

const listRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { runs, models, threads }) => {
  app.get(
    '/threads/:tid/runs',
    {
      config,
      schema: {
        operationId: 'threads.runs',
        summary: 'The runs of a thread, newest first',
        tags: ['threads'],
        params: Type.Object({ tid: PathId }),
        querystring: NewestPage,
        response: { 200: RunList, ...refusals(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const thread = await threads.see(callerOf(request), request.params.tid)
      const page = await runs.list(thread._id, request.query)
      linkNextPart(request, reply, page)
      return { runs: page.entries.map((run) => toRun(run, models.current().prices)), ...request.query }
    },
  )
}
