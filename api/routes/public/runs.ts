import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { TokenHeader, namedAssistantOf } from './caller.ts'
import { type CompatDeps, operation, publicRunConfig } from './compat-route.ts'
import { createStartRun } from './start-run.ts'
import { publicThreadFamily } from './thread-family.ts'
import { oneRunRoutes, runListRoutes, stepRoutes } from './thread-routes.ts'
import { CompatRun, CompatRunCreateRequest, CompatThreadRunCreateRequest, ThreadParams } from './thread-schemas.ts'
import { newThreadOf } from './threads.ts'

const runOrStream = {
  200: {
    description: 'The run; with `stream` its events as server-sent events, the last one being `done`.',
    content: { 'application/json': { schema: CompatRun }, 'text/event-stream': { schema: Type.String() } },
  },
}

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
        response: { ...runOrStream, ...compatRefusals },
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
}
