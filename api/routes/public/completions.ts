import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { TokenHeader, assistantOf } from './caller.ts'
import { publicChatHost } from './chat-host.ts'
import { type CompatDeps, operation, publicRunConfig } from './compat-route.ts'
import { completionOrChunks } from './chat-schemas.ts'
import { endUser, publicCallerOf } from './model-parameters.ts'
import { TextCompletion, answerText, askedOf, textCompletionMembers } from './text-completion.ts'

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
      const host = publicChatHost(publicFamily, assistant, { isStored: false })
      const asked = { ...askedOf(body), acting: publicCallerOf(body), clientTools: new Set<string>() }
      return answerText({ request, reply, openStreams }, host, asked)
    },
  )
}
