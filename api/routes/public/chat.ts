import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { answerChat } from './answer-chat.ts'
import { TokenHeader, assistantOf } from './caller.ts'
import { ChatCompletion, ChatCompletionRequest, completionOrChunks } from './chat-schemas.ts'
import { messagesOfChat } from './client-messages.ts'
import { functionsOf, toolOverridesOf, usesOldNames } from './client-tools.ts'
import { publicChatHost } from './chat-host.ts'
import { type CompatDeps, operation, publicRunConfig } from './compat-route.ts'
import { overridesOf, publicCallerOf } from './model-parameters.ts'
import { refuseUnmetChat } from './unmet-demands.ts'

/** `chat/completions`: each request is a run on a new public thread. */
export const chatRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, { publicFamily, openStreams }) => {
  app.post(
    '/chat/completions',
    {
      config: publicRunConfig,
      schema: {
        ...operation('chat.completions.create', 'Answer a conversation'),
        headers: TokenHeader,
        body: ChatCompletionRequest,
        response: {
          200: completionOrChunks(ChatCompletion),
          ...compatRefusals,
        },
      },
    },
    async (request, reply) => {
      const { body } = request
      const assistant = assistantOf(request)
      refuseUnmetChat(body)
      const isStored = body.store !== false
      const host = publicChatHost(publicFamily, assistant, { isStored })
      return answerChat({ request, reply, openStreams }, host, {
        model: body.model,
        messages: messagesOfChat(body.messages),
        overrides: { ...overridesOf(body), ...toolOverridesOf(body) },
        acting: publicCallerOf(body),
        choices: body.n ?? 1,
        isStored,
        clientTools: new Set(functionsOf(body).map(({ name }) => name)),
        isOld: usesOldNames(body),
        showsReasoning: publicFamily.showsReasoning(assistant),
        isStreamed: body.stream ?? false,
        includeUsage: body.stream_options?.include_usage ?? false,
      })
    },
  )
}
