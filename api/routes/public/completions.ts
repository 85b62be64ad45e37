import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { answerChat } from './answer-chat.ts'
import { TokenHeader, assistantOf } from './caller.ts'
import { publicChatHost } from './chat-host.ts'
import { type CompatDeps, operation, publicRunConfig } from './compat-route.ts'
import { completionOrChunks } from './chat-schemas.ts'
import { endUser, publicCallerOf } from './model-parameters.ts'
import {
  TextCompletion,
  askedOf,
  createTextChunks,
  textCompletionMembers,
  textCompletionOf,
} from './text-completion.ts'

const TextCompletionRequest = Type.Object(
  {
    model: Type.String({
      maxLength: requestLimits.nameLength,
      description: 'Any text; the answer shows it. The token decides which assistant answers.',
    }),
    ...textCompletionMembers,
    user: endUser,
  },
  { title: 'CompatTextCompletionRequest' },
)

/** `completions`, the older interface: the assistant answers each prompt as a question, and nothing is kept. */
export const textCompletionRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (
  app,
  { publicFamily, openStreams },
) => {
  app.post(
    '/completions',
    {
      config: publicRunConfig,
      schema: {
        ...operation('completions.create', 'Answer a text'),
        headers: TokenHeader,
        body: TextCompletionRequest,
        response: { 200: completionOrChunks(TextCompletion), ...compatRefusals },
      },
    },
    async (request, reply) => {
      const { body } = request
      const assistant = assistantOf(request)
      const { echoes, ...asked } = askedOf(body)
      const answer = await answerChat(
        { request, reply, openStreams },
        publicChatHost(publicFamily, assistant, { isStored: false }),
        {
          ...asked,
          model: body.model,
          acting: publicCallerOf(body),
          isStored: false,
          clientTools: new Set<string>(),
          isOld: false,
          showsReasoning: false,
          isStreamed: body.stream ?? false,
          includeUsage: body.stream_options?.include_usage ?? false,
          shownChunk: createTextChunks(echoes),
        },
      )
      return 'choices' in answer ? textCompletionOf(answer, echoes) : answer
    },
  )
}
