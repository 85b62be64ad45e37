import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError, invalidInput } from '../../../domain/errors.ts'
import { copyOfView } from '../../../domain/run-events.ts'
import { pageOf } from '../../../services/cursor-page.ts'
import type { RunOfClient } from '../../../services/v1/runs.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { orNull } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import { listedStepId, stepsOf } from '../public/run-steps.ts'
import { ListQuery, RunStepParams, ThreadParams, ThreadRunParams, listOf } from '../public/thread-schemas.ts'
import { listPage } from '../public/compat-objects.ts'
import {
  V1Run,
  V1RunCreateRequest,
  V1RunUpdateRequest,
  V1SubmitToolOutputsRequest,
  V1ThreadRunCreateRequest,
} from './run-schemas.ts'
import { toV1Run } from './run-objects.ts'
import { type V1RunDeps, createV1RunStarts } from './start-run.ts'
import { IncludeQuery, V1RunStep, includesResults, toV1Step } from './step-objects.ts'
import { codeFilesOf } from './assistants.ts'
import { storesOf } from './message-input.ts'
import { newV1ThreadOf } from './threads.ts'
import { operation, v1Config, v1Refusals } from './v1-route.ts'

const runOrStream = {
  200: {
    description: 'The run; with `stream` its events as server-sent events, the last one being `done`.',
    content: { 'application/json': { schema: V1Run }, 'text/event-stream': { schema: Type.String() } },
  },
}
const startConfig = {
  ...v1Config,
  idempotent: true,
  staysOpen: true,
  limits: ['runs_user'],
  largeBody: 'messages',
} as const

type RunRequest = FastifyRequest<{ Params: { thread_id: string; run_id: string } }>

function createRunShapes({ v1: { runs, assistants } }: V1RunDeps) {
  const assistantOf = async (request: FastifyRequest, id: string) =>
    (await orNull(assistants.read(callerOf(request), id))) ?? undefined
  return {
    assistantOf,
    shaped: async (request: FastifyRequest, found: RunOfClient) =>
      toV1Run(found, await assistantOf(request, found.run.assistant_id)),
    findRun: (request: RunRequest) => runs.find(callerOf(request), request.params.thread_id, request.params.run_id),
    findControlled: (request: RunRequest) =>
      runs.findControlled(callerOf(request), request.params.thread_id, request.params.run_id),
  }
}

/** `threads/{id}/runs` and their steps. */
export const v1RunRoutes: FastifyPluginAsyncTypebox<V1RunDeps> = async (app, deps) => {
  const { threads, runs, assistants } = deps.v1
  const { start } = createV1RunStarts(deps)
  const { shaped } = createRunShapes(deps)
  await app.register(oneRunRoutes, deps)
  await app.register(runStepRoutes, deps)

  app.post(
    '/threads/:thread_id/runs',
    {
      config: startConfig,
      schema: {
        ...operation('threads.runs.create', 'Run an assistant on a thread'),
        params: ThreadParams,
        querystring: IncludeQuery,
        body: V1RunCreateRequest,
        response: { ...runOrStream, ...v1Refusals(402, 404, 429) },
      },
    },
    async (request, reply) => {
      const thread = await threads.findContinuable(callerOf(request), request.params.thread_id)
      return start(request, reply, { body: request.body, thread })
    },
  )

  app.post(
    '/threads/runs',
    {
      config: startConfig,
      schema: {
        ...operation('threads.createAndRun', 'Begin a conversation and run an assistant on it'),
        body: V1ThreadRunCreateRequest,
        response: { ...runOrStream, ...v1Refusals(402, 404, 429) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { thread: given, tool_resources: resources, ...body } = request.body
      const stores = storesOf(resources)
      await assistants.read(caller, body.assistant_id)
      const { messages, ...members } = newV1ThreadOf(given ?? {}, ['body', 'thread'])
      const thread = await threads.draft(caller, members)
      const created = { messages, ownStore: members.resources.ownStore }
      return start(request, reply, { body, thread, created, stores, codeFiles: codeFilesOf(resources).codeFiles })
    },
  )

  app.get(
    '/threads/:thread_id/runs',
    {
      config: v1Config,
      schema: {
        ...operation('threads.runs.list', 'The runs of a thread'),
        params: ThreadParams,
        querystring: ListQuery,
        response: { 200: listOf(V1Run, 'V1RunList'), ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { entries, hasMore } = await runs.list(callerOf(request), request.params.thread_id, request.query)
      return listPage({ entries: await Promise.all(entries.map((found) => shaped(request, found))), hasMore })
    },
  )
}

const oneRunRoutes: FastifyPluginAsyncTypebox<V1RunDeps> = async (app, deps) => {
  const { runs } = deps.v1
  const { stream } = createV1RunStarts(deps)
  const { assistantOf, shaped, findRun, findControlled } = createRunShapes(deps)

  app.get(
    '/threads/:thread_id/runs/:run_id',
    {
      config: v1Config,
      schema: {
        ...operation('threads.runs.read', 'Read a run'),
        params: ThreadRunParams,
        response: { 200: V1Run, ...v1Refusals(404) },
      },
    },
    async (request) => shaped(request, await runs.withOwnCalls(await findRun(request))),
  )

  app.post(
    '/threads/:thread_id/runs/:run_id',
    {
      config: v1Config,
      schema: {
        ...operation('threads.runs.update', "Replace a run's metadata"),
        params: ThreadRunParams,
        body: V1RunUpdateRequest,
        response: { 200: V1Run, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const run = await findControlled(request)
      const { metadata } = request.body
      return shaped(request, await runs.withOwnCalls(metadata ? await runs.setMetadata(run, metadata) : run))
    },
  )

  app.post(
    '/threads/:thread_id/runs/:run_id/cancel',
    {
      config: v1Config,
      schema: {
        ...operation('threads.runs.cancel', 'Cancel a run; a run that has ended does not change'),
        params: ThreadRunParams,
        response: { 200: V1Run, ...v1Refusals(404) },
      },
    },
    async (request) => shaped(request, { run: await runs.cancel(await findControlled(request)), calls: [] }),
  )

  app.post(
    '/threads/:thread_id/runs/:run_id/submit_tool_outputs',
    {
      config: { ...v1Config, staysOpen: true, largeBody: 'object' },
      schema: {
        ...operation('threads.runs.submitToolOutputs', 'Send the results of the functions for which a run waits'),
        params: ThreadRunParams,
        body: V1SubmitToolOutputsRequest,
        response: { ...runOrStream, ...v1Refusals(404) },
      },
    },
    async (request, reply) => {
      const outputs = request.body.tool_outputs.map(({ tool_call_id: id, output }, index) => {
        if (id === undefined)
          throw invalidInput(['body', 'tool_outputs', index, 'tool_call_id'], 'is required', 'missing')
        return { tool_call_id: id, output: output ?? '' }
      })
      const run = await findControlled(request)
      logRun(reply, run)
      if (!request.body.stream) return shaped(request, { run: await runs.submit(run, outputs), calls: [] })
      const assistant = await assistantOf(request, run.assistant_id)
      const feed = await runs.follow(run)
      const resumedFrom = copyOfView(feed.view)
      try {
        await runs.submit(run, outputs)
      } catch (error) {
        feed.close()
        throw error
      }
      return stream(request, reply, { run, feed }, assistant, { resumedFrom })
    },
  )
}

const runStepRoutes: FastifyPluginAsyncTypebox<V1RunDeps> = async (app, deps) => {
  const { threads } = deps.v1
  const { findRun } = createRunShapes(deps)
  const steps = async (request: RunRequest) => {
    const run = await findRun(request)
    const withResults = includesResults(request)
    const logged = await threads.messagesOfRun(callerOf(request), run)
    const messages = () => logged.map(({ message }) => message)
    return stepsOf(run, logged).map((step) => toV1Step(step, { withResults, messages }))
  }

  app.get(
    '/threads/:thread_id/runs/:run_id/steps',
    {
      config: v1Config,
      schema: {
        ...operation('threads.runs.steps.list', 'The steps of a run'),
        params: ThreadRunParams,
        querystring: Type.Object({ ...ListQuery.properties, ...IncludeQuery.properties }),
        response: { 200: listOf(V1RunStep, 'V1RunStepList'), ...v1Refusals(404) },
      },
    },
    async (request) => listPage(pageOf(await steps(request), ({ id }) => id, request.query)),
  )

  app.get(
    '/threads/:thread_id/runs/:run_id/steps/:step_id',
    {
      config: v1Config,
      schema: {
        ...operation('threads.runs.steps.read', 'Read a step of a run'),
        params: RunStepParams,
        querystring: IncludeQuery,
        response: { 200: V1RunStep, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const found = (await steps(request)).find(({ id }) => id === listedStepId(request.params.step_id))
      if (found === undefined) throw new AppError('not_found', 'There is no such step.')
      return found
    },
  )
}
