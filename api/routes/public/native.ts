import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { preValidationAsyncHookHandler } from 'fastify'
import Type from 'typebox'
import { Value } from 'typebox/value'
import type { Services } from '../../../composition/platform.ts'
import { invalidInput, AppError } from '../../../domain/errors.ts'
import { publicRunError } from '../../../domain/public-run-error.ts'
import { runStatuses } from '../../../domain/records/run.ts'
import type { PublicFamily } from '../../../services/public/index.ts'
import { type RunRequest, agreedId, locOf } from '../../../services/runs/index.ts'
import type { PublicCors } from '../../plugins/cors.ts'
import { answerIsFollowed, followOnce } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'
import { CreateRunPayload, ResumeHeaders, RunParams, StreamQuery } from '../runs/schemas.ts'
import { eventStream, streamRun } from '../runs/stream-run.ts'
import { refusals, PathId } from '../schemas.ts'
import { TokenHeader, assistantOf, tokensOf } from './caller.ts'
import { compatConfig, publicRunConfig } from './compat-route.ts'
import { endUser, publicCallerOf } from './model-parameters.ts'

interface Deps {
  publicFamily: PublicFamily
  openStreams: OpenStreams
  cors: PublicCors
  feedback: Pick<Services['feedback'], 'submitOfVisitor'>
}

const PublicCreateRunPayload = Type.Object(
  {
    ...CreateRunPayload.properties,
    user: endUser,
    token: Type.Optional(
      Type.String({ description: "The assistant's public token, if it is not in a header.", maxLength: 1000 }),
    ),
  },
  { title: 'PublicCreateRunPayload', about: 'A run of a public assistant.' },
)

const PublicRunStatus = Type.Object(
  { run_id: Type.String(), thread_id: Type.String(), status: Type.Enum([...runStatuses], { title: 'RunStatus' }) },
  { title: 'PublicRunStatus', about: 'How far a run of a public assistant is.' },
)

const PublicFeedbackRequest = Type.Object(
  {
    score: Type.Enum([0, 1], { title: 'Thumb', about: 'Whether the answer helped.', description: '1: good, 0: bad.' }),
    value: Type.Optional(Type.String({ maxLength: 200, description: 'A reason, in a word.' })),
    comment: Type.Optional(Type.String({ maxLength: 2000 })),
  },
  { title: 'PublicFeedbackRequest', about: 'What a visitor says about an answer.' },
)

/** The members of the body that decide about access, with the same schemas as in the whole payload. */
const Addressed = Type.Pick(PublicCreateRunPayload, ['assistant_id', 'config', 'token'])

const streamOptions = { root: '/public/runs', toError: publicRunError } as const

/** `/public/runs`: the native stream, without an account. */
export const publicNativeRoutes: FastifyPluginAsyncTypebox<Deps> = async (
  app,
  { publicFamily, openStreams, cors, feedback },
) => {
  const { access, threads } = publicFamily
  app.decorateRequest('publicAssistant', null)

  /** Access is checked before the rest of the body. Members of the wrong shape are refused by the validation. */
  const admit: preValidationAsyncHookHandler = async (request, reply) => {
    const { body } = request
    if (!Value.Check(Addressed, body)) return
    const assistantId = agreedId(body, 'assistant_id')
    if (assistantId === undefined) throw invalidInput(['body', 'assistant_id'], 'is required', 'missing')
    const tokens = [...tokensOf(request), ...(body.token ? [body.token] : [])]
    request.publicAssistant = await cors.admit(request, reply, () => access.byId(assistantId, tokens))
  }

  app.post(
    '/public/runs/stream',
    {
      config: publicRunConfig,
      preValidation: admit,
      schema: {
        operationId: 'public.runs.stream',
        summary: 'Run a public assistant and stream its answer',
        description: 'Without `thread_id` a new public thread begins; `metadata` names it.',
        tags: ['public'],
        headers: TokenHeader,
        querystring: StreamQuery,
        body: PublicCreateRunPayload,
        response: { ...eventStream, ...refusals(401, 402, 403, 404, 409, 503) },
      },
    },
    async (request, reply) => {
      const { body } = request
      const assistant = assistantOf(request)
      const threadId = agreedId(body, 'thread_id')
      requireHuman(body.input)
      const isNew = threadId === undefined
      const thread = isNew ? threads.draft(assistant) : await threads.read(assistant, threadId)
      const strategy = body.multitask_strategy ?? 'enqueue'
      const requested = { thread, withThread: isNew, assistant, strategy, acting: publicCallerOf(body) }
      const followed = await followOnce(request, {
        ...publicFamily.runsOf(assistant),
        start: async (id) =>
          publicFamily.start({ ...requested, ...(await publicFamily.input(assistant, body.input)) }, id),
      })
      await answerIsFollowed(request)
      logRun(reply, followed.run)
      streamRun(reply, followed, {
        ...streamOptions,
        openStreams,
        mode: request.query.stream_mode ?? body.stream_mode,
        isKept: publicFamily.keepsChats(assistant),
      })
      return reply
    },
  )

  app.get(
    '/public/runs/:run_id/stream',
    {
      config: { ...compatConfig, staysOpen: true },
      schema: {
        operationId: 'public.runs.join',
        summary: 'Join the stream of a public run, or resume it with Last-Event-ID',
        tags: ['public'],
        params: RunParams,
        querystring: StreamQuery,
        headers: Type.Object({ ...TokenHeader.properties, ...ResumeHeaders.properties }),
        response: { ...eventStream, ...refusals(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const run = await publicFamily.findRun(request.params.run_id)
      await cors.admit(request, reply, () => access.byId(run.assistant_id, tokensOf(request)))
      logRun(reply, run)
      const feed = await publicFamily.follow(run)
      const after = request.headers['last-event-id']
      streamRun(reply, { run, feed }, { ...streamOptions, openStreams, after, mode: request.query.stream_mode })
      return reply
    },
  )

  await app.register(cancelRoute, { publicFamily, cors })
  await app.register(feedbackRoute, { publicFamily, cors, feedback })
}

const cancelRoute: FastifyPluginAsyncTypebox<Pick<Deps, 'publicFamily' | 'cors'>> = async (
  app,
  { publicFamily, cors },
) => {
  app.post(
    '/public/runs/:run_id/cancel',
    {
      config: compatConfig,
      schema: {
        operationId: 'public.runs.cancel',
        summary: 'Cancel a public run; a run that has ended does not change',
        tags: ['public'],
        params: RunParams,
        headers: TokenHeader,
        response: { 200: PublicRunStatus, ...refusals(401, 403, 404, 503) },
      },
    },
    async (request, reply) => {
      const run = await publicFamily.findRun(request.params.run_id)
      await cors.admit(request, reply, () => publicFamily.access.byId(run.assistant_id, tokensOf(request)))
      logRun(reply, run)
      const { _id, thread_id: threadId, status } = await publicFamily.cancel(run)
      return { run_id: _id, thread_id: threadId, status }
    },
  )
}

/** `POST /public/runs/{run_id}/feedback`: what a visitor says about an answer. */
const feedbackRoute: FastifyPluginAsyncTypebox<Omit<Deps, 'openStreams'>> = async (
  app,
  { publicFamily, cors, feedback },
) => {
  app.post(
    '/public/runs/:run_id/feedback',
    {
      config: compatConfig,
      schema: {
        operationId: 'public.runs.feedback',
        summary: 'Say whether the answer of a public run helped, if its assistant keeps chats',
        tags: ['public'],
        params: Type.Object({ run_id: PathId }),
        headers: TokenHeader,
        body: PublicFeedbackRequest,
        response: { 200: Type.Object({ status: Type.Literal('submitted') }), ...refusals(401, 403, 404, 503) },
      },
    },
    async (request, reply) => {
      const run = await publicFamily.findRun(request.params.run_id)
      const assistant = await cors.admit(request, reply, () =>
        publicFamily.access.byId(run.assistant_id, tokensOf(request)),
      )
      if (!publicFamily.keepsChats(assistant))
        throw new AppError('forbidden', 'This assistant keeps no feedback of its visitors.')
      await feedback.submitOfVisitor(run, { key: 'thumb', ...request.body })
      return { status: 'submitted' as const }
    },
  )
}

/**
 * Public callers may send human messages only: instructions are for the owner, and made-up answers and tool results
 * would look like the assistant's.
 */
function requireHuman(input: RunRequest['input']): void {
  for (const [index, { type }] of (Array.isArray(input) ? input : input.messages).entries()) {
    if (type !== 'human' && type !== 'HumanMessage')
      throw invalidInput([...locOf(input), index, 'type'], 'public callers may send only messages of type human')
  }
}
