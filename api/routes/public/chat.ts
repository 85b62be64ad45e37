import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
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
import { endOf, waitForEnd } from './run-end.ts'
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
      const isStored = request.body.store !== false
      const given = messagesOfChat(messages)
      const asked = {
        thread: publicFamily.threads.draft(assistant, { isStored }),
        withThread: true,
        assistant,
        overrides: overridesOf(request.body),
        strategy: 'enqueue' as const,
      }
      const followed = await followOnce(request, {
        ...publicFamily.runsOf(assistant),
        start: async (id) =>
          publicFamily.start({ ...asked, ...(await publicFamily.input(given, ['body', 'messages'])) }, id),
        keyEndsWithThread: isStored,
      })
      logRun(reply, followed.run)
      const canRejoin = typeof request.headers['idempotency-key'] === 'string'
      const forget = async () => {
        if (isStored) return
        // A caller who left may repeat the request with the same key. Otherwise the retention deletes the thread, and
        // also when this deletion cannot begin.
        if (canRejoin && endOf(followed.feed.view) === undefined) return
        await publicFamily
          .forget(followed.run)
          .catch((error: unknown) =>
            request.log.warn({ err: error }, 'a thread that is not to be stored stays for now'),
          )
      }
      // The stored answer of a key would outlive the thread.
      if (stream || !isStored) await answerIsFollowed(request)
      if (!stream) {
        const end = waitForEnd(followed.feed, reply, openStreams).finally(forget)
        return chatCompletion({ run: followed.run, model }, await end)
      }
      const { finished, stop } = streamCompletion(reply, followed, {
        model,
        includeUsage: options?.include_usage ?? false,
      })
      openStreams.track(finished.finally(forget), stop)
      return reply
    },
  )
}
