import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { invalidInput } from '../../../domain/errors.ts'
import { copyOfView } from '../../../domain/run-events.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { logRun } from '../../plugins/logging.ts'
import { runOrStream } from '../public/stream-thread-run.ts'
import { oneRunRoutes, runListRoutes, stepRoutes } from '../public/thread-routes.ts'
import { ThreadParams, ThreadRunParams } from '../public/thread-schemas.ts'
import { codeFilesOf } from './assistants.ts'
import { storesOf } from './message-input.ts'
import {
  V1Run,
  V1RunCreateRequest,
  V1RunUpdateRequest,
  V1SubmitToolOutputsRequest,
  V1ThreadRunCreateRequest,
} from './run-schemas.ts'
import { type V1RunDeps, createV1RunStarts } from './start-run.ts'
import { IncludeQuery } from './step-objects.ts'
import { v1ThreadFamily } from './thread-family.ts'
import { newV1ThreadOf } from './threads.ts'
import { operation, v1Config, v1Refusals } from './v1-route.ts'

const startConfig = {
  ...v1Config,
  idempotent: true,
  staysOpen: true,
  limits: ['runs_user'],
  largeBody: 'messages',
} as const

type RunIds = Static<typeof ThreadRunParams>

/** `threads/{id}/runs` and their steps. */
export const v1RunRoutes: FastifyPluginAsyncTypebox<V1RunDeps> = async (app, deps) => {
  const { threads, assistants } = deps.v1
  const { start } = createV1RunStarts(deps)
  const { family } = v1ThreadFamily(deps.v1)
  await app.register(oneRunRoutes, { family })
  await app.register(changedRunRoutes, deps)
  await app.register(stepRoutes, { family })

  app.post(
    '/threads/:thread_id/runs',
    {
      config: startConfig,
      schema: {
        ...operation('threads.runs.create', 'Run an assistant on a thread'),
        params: ThreadParams,
        querystring: IncludeQuery,
        body: V1RunCreateRequest,
        response: { ...runOrStream(V1Run), ...v1Refusals(402, 404, 429) },
      },
    },
    async (request, reply) => {
      const thread = await threads.read(callerOf(request), request.params.thread_id, 'continue')
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
        response: { ...runOrStream(V1Run), ...v1Refusals(402, 404, 429) },
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

  await app.register(runListRoutes, { family })
}

const changedRunRoutes: FastifyPluginAsyncTypebox<V1RunDeps> = async (app, deps) => {
  const { runs } = deps.v1
  const { stream } = createV1RunStarts(deps)
  const { assistantOf, toRunObject } = v1ThreadFamily(deps.v1)
  const findControlled = (request: FastifyRequest, { thread_id: threadId, run_id: runId }: RunIds) =>
    runs.findControlled(callerOf(request), threadId, runId)

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
      const run = await findControlled(request, request.params)
      const { metadata } = request.body
      return toRunObject(request, await runs.withOwnCalls(metadata ? await runs.setMetadata(run, metadata) : run))
    },
  )

  app.post(
    '/threads/:thread_id/runs/:run_id/submit_tool_outputs',
    {
      config: { ...v1Config, staysOpen: true, largeBody: 'object' },
      schema: {
        ...operation('threads.runs.submitToolOutputs', 'Send the results of the functions for which a run waits'),
        params: ThreadRunParams,
        body: V1SubmitToolOutputsRequest,
        response: { ...runOrStream(V1Run), ...v1Refusals(404) },
      },
    },
    async (request, reply) => {
      const outputs = request.body.tool_outputs.map(({ tool_call_id: id, output }, index) => {
        if (id === undefined)
          throw invalidInput(['body', 'tool_outputs', index, 'tool_call_id'], 'is required', 'missing')
        return { tool_call_id: id, output: output ?? '' }
      })
      const run = await findControlled(request, request.params)
      logRun(reply, run)
      if (!request.body.stream) return toRunObject(request, { run: await runs.submit(run, outputs), calls: [] })
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
