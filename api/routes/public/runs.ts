import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import { pageOf } from '../../../services/cursor-page.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { TokenHeader, assistantOf, namedAssistantOf } from './caller.ts'
import { type CompatDeps, compatConfig, operation, publicRunConfig } from './compat-route.ts'
import { stepsOf } from './run-steps.ts'
import { createStartRun } from './start-run.ts'
import {
  CompatRun,
  CompatRunCreateRequest,
  CompatRunStep,
  CompatThreadRunCreateRequest,
  ListQuery,
  RunStepParams,
  ThreadParams,
  ThreadRunParams,
  listOf,
} from './thread-schemas.ts'
import { listPage, toCompatRun } from './compat-objects.ts'
import { newThreadOf } from './threads.ts'

const runOrStream = {
  200: {
    description: 'The run; with `stream` its events as server-sent events, the last one being `done`.',
    content: { 'application/json': { schema: CompatRun }, 'text/event-stream': { schema: Type.String() } },
  },
}

/** `threads/{id}/runs` and their steps. */
export const publicRunRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, deps) => {
  await app.register(runRoutes, deps)
  await app.register(stepRoutes, deps)
}

const runRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, deps) => {
  const { publicFamily } = deps
  const { threads } = publicFamily
  const start = createStartRun(deps)

  app.post(
    '/threads/:thread_id/runs',
    {
      config: publicRunConfig,
      schema: {
        ...operation('threads.runs.create', 'Run the assistant on a thread'),
        headers: TokenHeader,
        params: ThreadParams,
        body: CompatRunCreateRequest,
        response: { ...runOrStream, ...compatRefusals },
      },
    },
    async (request, reply) => {
      const assistant = namedAssistantOf(request, request.body.assistant_id)
      const thread = await threads.findOf(assistant, request.params.thread_id)
      return start(request, reply, { assistant, thread, body: request.body })
    },
  )

  app.post(
    '/threads/runs',
    {
      config: publicRunConfig,
      schema: {
        ...operation('threads.createAndRun', 'Begin a conversation and run the assistant on it'),
        headers: TokenHeader,
        body: CompatThreadRunCreateRequest,
        response: { ...runOrStream, ...compatRefusals },
      },
    },
    async (request, reply) => {
      const assistant = namedAssistantOf(request, request.body.assistant_id)
      const { metadata, messages } = newThreadOf(request.body.thread ?? {}, ['body', 'thread'])
      const thread = threads.draft(assistant, { metadata })
      return start(request, reply, { assistant, thread, body: request.body, messagesOfNewThread: messages })
    },
  )

  app.get(
    '/threads/:thread_id/runs',
    {
      config: compatConfig,
      schema: {
        ...operation('threads.runs.list', 'The runs of a thread'),
        headers: TokenHeader,
        params: ThreadParams,
        querystring: ListQuery,
        response: { 200: listOf(CompatRun, 'CompatRunList'), ...compatRefusals },
      },
    },
    async (request) => {
      const assistant = assistantOf(request)
      const { entries, hasMore } = await threads.runs(assistant, request.params.thread_id, request.query)
      const about = publicFamily.about(assistant)
      return listPage({ entries: entries.map((run) => toCompatRun(run, about)), hasMore })
    },
  )

  app.get(
    '/threads/:thread_id/runs/:run_id',
    {
      config: compatConfig,
      schema: {
        ...operation('threads.runs.read', 'Read a run'),
        headers: TokenHeader,
        params: ThreadRunParams,
        response: { 200: CompatRun, ...compatRefusals },
      },
    },
    async (request) => {
      const assistant = assistantOf(request)
      const run = await threads.findRun(assistant, request.params.thread_id, request.params.run_id)
      return toCompatRun(run, publicFamily.about(assistant))
    },
  )

  app.post(
    '/threads/:thread_id/runs/:run_id/cancel',
    {
      config: compatConfig,
      schema: {
        ...operation('threads.runs.cancel', 'Cancel a run; a run that has ended does not change'),
        headers: TokenHeader,
        params: ThreadRunParams,
        response: { 200: CompatRun, ...compatRefusals },
      },
    },
    async (request) => {
      const assistant = assistantOf(request)
      const run = await threads.findRun(assistant, request.params.thread_id, request.params.run_id)
      return toCompatRun(await publicFamily.cancel(run), publicFamily.about(assistant))
    },
  )
}

const stepRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, { publicFamily: { threads } }) => {
  app.get(
    '/threads/:thread_id/runs/:run_id/steps',
    {
      config: compatConfig,
      schema: {
        ...operation('threads.runs.steps.list', 'The steps of a run'),
        headers: TokenHeader,
        params: ThreadRunParams,
        querystring: ListQuery,
        response: { 200: listOf(CompatRunStep, 'CompatRunStepList'), ...compatRefusals },
      },
    },
    async (request) =>
      listPage(pageOf(await steps(assistantOf(request), request.params), ({ id }) => id, request.query)),
  )

  app.get(
    '/threads/:thread_id/runs/:run_id/steps/:step_id',
    {
      config: compatConfig,
      schema: {
        ...operation('threads.runs.steps.read', 'Read a step of a run'),
        headers: TokenHeader,
        params: RunStepParams,
        response: { 200: CompatRunStep, ...compatRefusals },
      },
    },
    async (request) => {
      const all = await steps(assistantOf(request), request.params)
      const found = all.find(({ id }) => id === request.params.step_id)
      if (found === undefined) throw new AppError('not_found', 'There is no such step.')
      return found
    },
  )

  async function steps(assistant: AssistantRecord, ids: { thread_id: string; run_id: string }) {
    const run = await threads.findRun(assistant, ids.thread_id, ids.run_id)
    return stepsOf(run, await threads.messagesOfRun(assistant, run))
  }
}
