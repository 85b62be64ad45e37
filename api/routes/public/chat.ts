import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { answerChat, askedOfChat } from './answer-chat.ts'
import { TokenHeader, assistantOf } from './caller.ts'
import { ChatCompletion, ChatCompletionRequest, completionOrChunks } from './chat-schemas.ts'
import { functionsOf } from './client-tools.ts'
import { publicChatHost } from './chat-host.ts'
import { type CompatDeps, operation, publicRunConfig } from './compat-route.ts'
import { publicCallerOf } from './model-parameters.ts'

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
      const asked = askedOfChat(body)
      const isStored = body.store !== false
      const host = publicChatHost(publicFamily, assistant, { isStored })
      return answerChat({ request, reply, openStreams }, host, {
        ...asked,
        acting: publicCallerOf(body),
        isStored,
        clientTools: new Set(functionsOf(body).map(({ name }) => name)),
        showsReasoning: publicFamily.showsReasoning(assistant),
      })
    },
  )
}
