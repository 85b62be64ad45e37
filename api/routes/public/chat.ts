import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { maxMessageBytes } from '../../../domain/message-size.ts'
import { inputMessages } from '../../../services/runs/prepare-run.ts'
import { answerIsFollowed } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { followOnce } from '../runs/follow-once.ts'
import { TokenHeader, assistantOf } from './caller.ts'
import { ChatCompletion, ChatCompletionRequest } from './chat-schemas.ts'
import { messagesOfChat } from './client-messages.ts'
import { type CompatDeps, operation, publicRunConfig } from './compat-route.ts'
import { chatCompletion } from './completion.ts'
import { overridesOf } from './model-parameters.ts'
import { waitForEnd } from './run-end.ts'
import { streamCompletion } from './stream-completion.ts'
import { refuseUnmetChat } from './unmet-demands.ts'

/** `chat/completions`: each request is a run on a new public thread. */
export const chatRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, { publicFamily, openStreams, family }) => {
  app.post(
    '/chat/completions',
    {
      config: publicRunConfig,
      schema: {
        ...operation(family, 'chat.completions.create', 'Answer a conversation'),
        headers: TokenHeader,
        body: ChatCompletionRequest,
        response: {
          200: {
            description: 'The completion; with `stream` its chunks as server-sent events, then `[DONE]`.',
            content: {
              'application/json': { schema: ChatCompletion },
              'text/event-stream': { schema: Type.String() },
            },
          },
          ...compatRefusals,
        },
      },
    },
    async (request, reply) => {
      const { model, messages, stream, stream_options: options } = request.body
      const assistant = assistantOf(request)
      refuseUnmetChat(request.body)
      const input = inputMessages(messagesOfChat(messages), {
        maxBytes: maxMessageBytes.public,
        loc: ['body', 'messages'],
      })
      const newRun = {
        thread: publicFamily.threads.draft(assistant),
        withThread: true,
        assistant,
        input,
        overrides: overridesOf(request.body),
        strategy: 'enqueue' as const,
      }
      const followed = await followOnce(request, {
        ...publicFamily.runsOf(assistant),
        start: (id) => publicFamily.start(newRun, id),
      })
      logRun(reply, followed.run)
      if (!stream)
        return chatCompletion({ run: followed.run, model }, await waitForEnd(followed.feed, reply, openStreams))
      await answerIsFollowed(request)
      const { finished, stop } = streamCompletion(reply, followed, {
        model,
        includeUsage: options?.include_usage ?? false,
      })
      openStreams.track(finished, stop)
      return reply
    },
  )
}
