import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import { checkFreeForm } from '../../../domain/free-form.ts'
import { checkTextSize, maxMessageBytes } from '../../../domain/message-size.ts'
import type { Message } from '../../../domain/messages.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import { pageOf } from '../../../services/public/threads.ts'
import { answerIsFollowed } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { followOnce } from '../runs/follow-once.ts'
import { TokenHeader, assistantOf, namedAssistantOf } from './caller.ts'
import { type CompatDeps, compatConfig, operation, publicRunConfig } from './compat-route.ts'
import { overridesOf } from './model-parameters.ts'
import { stepsOf } from './run-steps.ts'
import { streamThreadRun } from './stream-thread-run.ts'
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
import { listPage, runShape } from './thread-shapes.ts'
import { messagesOf, newThreadOf } from './threads.ts'
import { refuseUnmetRun } from './unmet-demands.ts'

const runOrStream = {
  200: {
    description: 'The run; with `stream` its events as server-sent events, the last one being `done`.',
    content: { 'application/json': { schema: CompatRun }, 'text/event-stream': { schema: Type.String() } },
  },
}

/** `threads/{id}/runs` and their steps. */
export const publicRunRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, deps) => {
  const { publicFamily, openStreams, family } = deps
  const { threads } = publicFamily

  app.post(
    '/threads/:thread_id/runs',
    {
      config: publicRunConfig,
      schema: {
        ...operation(family, 'threads.runs.create', 'Run the assistant on a thread'),
        headers: TokenHeader,
        params: ThreadParams,
        body: CompatRunCreateRequest,
        response: { ...runOrStream, ...compatRefusals },
      },
    },
    async (request, reply) => {
      const assistant = namedAssistantOf(request, request.body.assistant_id)
      const thread = await threads.find(assistant, request.params.thread_id)
      return start(request, reply, assistant, thread, request.body)
    },
  )

  app.post(
    '/threads/runs',
    {
      config: publicRunConfig,
      schema: {
        ...operation(family, 'threads.createAndRun', 'Begin a conversation and run the assistant on it'),
        headers: TokenHeader,
        body: CompatThreadRunCreateRequest,
        response: { ...runOrStream, ...compatRefusals },
      },
    },
    async (request, reply) => {
      const assistant = namedAssistantOf(request, request.body.assistant_id)
      const { metadata, messages } = newThreadOf(request.body.thread ?? {}, ['body', 'thread'])
      return start(request, reply, assistant, threads.draft(assistant, { metadata }), request.body, messages)
    },
  )

  app.get(
    '/threads/:thread_id/runs',
    {
      config: compatConfig,
      schema: {
        ...operation(family, 'threads.runs.list', 'The runs of a thread'),
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
      return listPage({ entries: entries.map((run) => runShape(run, about)), hasMore })
    },
  )

  app.get(
    '/threads/:thread_id/runs/:run_id',
    {
      config: compatConfig,
      schema: {
        ...operation(family, 'threads.runs.read', 'Read a run'),
        headers: TokenHeader,
        params: ThreadRunParams,
        response: { 200: CompatRun, ...compatRefusals },
      },
    },
    async (request) => {
      const assistant = assistantOf(request)
      const run = await threads.findRun(assistant, request.params.thread_id, request.params.run_id)
      return runShape(run, publicFamily.about(assistant))
    },
  )

  app.post(
    '/threads/:thread_id/runs/:run_id/cancel',
    {
      config: compatConfig,
      schema: {
        ...operation(family, 'threads.runs.cancel', 'Cancel a run; a run that has ended does not change'),
        headers: TokenHeader,
        params: ThreadRunParams,
        response: { 200: CompatRun, ...compatRefusals },
      },
    },
    async (request) => {
      const assistant = assistantOf(request)
      const run = await threads.findRun(assistant, request.params.thread_id, request.params.run_id)
      return runShape(await publicFamily.cancel(run), publicFamily.about(assistant))
    },
  )

  app.get(
    '/threads/:thread_id/runs/:run_id/steps',
    {
      config: compatConfig,
      schema: {
        ...operation(family, 'threads.runs.steps.list', 'The steps of a run'),
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
        ...operation(family, 'threads.runs.steps.read', 'Read a step of a run'),
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

  async function start(
    request: FastifyRequest,
    reply: FastifyReply,
    assistant: AssistantRecord,
    thread: ThreadRecord,
    body: CompatRunCreateRequest,
    messagesOfNewThread?: Message[],
  ): Promise<CompatRun | FastifyReply> {
    refuseUnmetRun(body)
    const newRun = {
      thread,
      withThread: messagesOfNewThread !== undefined,
      assistant,
      input: [
        ...(messagesOfNewThread ?? []),
        ...messagesOf(body.additional_messages ?? [], ['body', 'additional_messages']),
      ],
      overrides: { ...overridesOf(body), ...instructionsOf(body) },
      strategy: 'enqueue' as const,
      ...(body.metadata ? { metadataJson: checkFreeForm(['body', 'metadata'], body.metadata) } : {}),
    }
    const followed = await followOnce(request, {
      ...publicFamily.runsOf(assistant),
      start: (id) => publicFamily.start(newRun, id),
    })
    logRun(reply, followed.run)
    const about = publicFamily.about(assistant)
    if (!body.stream) {
      followed.feed.close()
      return runShape(followed.run, about)
    }
    await answerIsFollowed(request)
    const reread = () => publicFamily.reread(followed.run)
    const { finished, stop } = streamThreadRun(reply, followed, {
      about,
      reread,
      ...(messagesOfNewThread ? { newThread: { ...thread, _id: followed.run.thread_id } } : {}),
    })
    openStreams.track(finished, stop)
    return reply
  }

  async function steps(assistant: AssistantRecord, ids: { thread_id: string; run_id: string }) {
    const run = await threads.findRun(assistant, ids.thread_id, ids.run_id)
    return stepsOf(run, await threads.messagesOfRun(assistant, run))
  }
}

/** The run's own instructions are added to those of the assistant, not used in their place. */
function instructionsOf(body: CompatRunCreateRequest): { instructions?: string } {
  const instructions = [body.instructions, body.additional_instructions].filter(Boolean).join('\n\n')
  checkTextSize(instructions, maxMessageBytes.public, ['body', 'instructions'])
  return instructions === '' ? {} : { instructions }
}
