import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkFreeForm } from '../../../domain/foreign-json.ts'
import { checkTextSize, maxMessageBytes } from '../../../domain/message-size.ts'
import type { Message } from '../../../domain/messages.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { answerIsFollowed, followOnce } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import { TokenHeader, namedAssistantOf } from './caller.ts'
import { toCompatRun, toCompatThread } from './compat-objects.ts'
import { type CompatDeps, operation, publicRunConfig } from './compat-route.ts'
import { overridesOf, publicCallerOf, refuseUnmetRun } from './model-parameters.ts'
import { runOrStream, streamThreadRun } from './stream-thread-run.ts'
import { publicThreadFamily } from './thread-family.ts'
import { oneRunRoutes, runListRoutes, stepRoutes } from './thread-routes.ts'
import { CompatRun, CompatRunCreateRequest, CompatThreadRunCreateRequest, ThreadParams } from './thread-schemas.ts'
import { messagesOf, newThreadOf } from './threads.ts'

/** `threads/{id}/runs` and their steps. */
export const publicRunRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, deps) => {
  const family = publicThreadFamily(deps.publicFamily)
  await app.register(runRoutes, deps)
  await app.register(runListRoutes, { family })
  await app.register(oneRunRoutes, { family })
  await app.register(stepRoutes, { family })
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
        response: { ...runOrStream(CompatRun), ...compatRefusals },
      },
    },
    async (request, reply) => {
      const assistant = namedAssistantOf(request, request.body.assistant_id)
      const thread = await threads.read(assistant, request.params.thread_id)
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
        response: { ...runOrStream(CompatRun), ...compatRefusals },
      },
    },
    async (request, reply) => {
      const assistant = namedAssistantOf(request, request.body.assistant_id)
      const { metadata, messages } = newThreadOf(request.body.thread ?? {}, ['body', 'thread'])
      const thread = threads.draft(assistant, { metadata })
      return start(request, reply, { assistant, thread, body: request.body, messagesOfNewThread: messages })
    },
  )
}

interface RunRequest {
  assistant: AssistantRecord
  thread: ThreadRecord
  body: CompatRunCreateRequest
  /** The first messages of a thread that is created with the run. */
  messagesOfNewThread?: Message[]
}

/** Starts a run on a thread, and answers with the run or, with `stream`, its events. */
function createStartRun({ publicFamily, openStreams }: Pick<CompatDeps, 'publicFamily' | 'openStreams'>) {
  return async function startRun(
    request: FastifyRequest,
    reply: FastifyReply,
    { assistant, thread, body, messagesOfNewThread }: RunRequest,
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
      acting: publicCallerOf(body),
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
      return toCompatRun(followed.run, about)
    }
    await answerIsFollowed(request)
    return streamThreadRun(reply, followed, {
      openStreams,
      shapeOf: (shown) => toCompatRun(shown, about),
      reread: () => publicFamily.reread(followed.run),
      ...(messagesOfNewThread ? { newThread: toCompatThread({ ...thread, _id: followed.run.thread_id }) } : {}),
    })
  }
}

/** The run's own instructions are added to those of the assistant, not used in their place. */
function instructionsOf(body: CompatRunCreateRequest): { instructions?: string } {
  const instructions = [body.instructions, body.additional_instructions].filter(Boolean).join('\n\n')
  checkTextSize(instructions, maxMessageBytes.public, ['body', 'instructions'])
  return instructions === '' ? {} : { instructions }
}
