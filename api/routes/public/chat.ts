import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import type { PublicFamily } from '../../../services/public/index.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { type ChatHost, answerChat, requestOfChat } from './answer-chat.ts'
import { TokenHeader, assistantOf } from './caller.ts'
import { ChatCompletion, ChatCompletionRequest, completionOrChunks } from './chat-schemas.ts'
import { functionsOf } from './client-messages.ts'
import { type CompatDeps, operation, publicRunConfig } from './compat-route.ts'
import { endUser, publicCallerOf } from './model-parameters.ts'
import { TextCompletion, answerText, requestOf, textCompletionMembers } from './text-completion.ts'

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
      const requested = requestOfChat(body)
      const isStored = body.store !== false
      const host = publicChatHost(publicFamily, assistant, { isStored })
      return answerChat({ request, reply, openStreams }, host, {
        ...requested,
        acting: publicCallerOf(body),
        isStored,
        clientTools: new Set(functionsOf(body).map(({ name }) => name)),
        showsReasoning: publicFamily.showsReasoning(assistant),
      })
    },
  )
}

const TextCompletionRequest = Type.Object(
  {
    model: Type.String({
      maxLength: requestLimits.nameLength,
      description: 'Any text; the answer shows it. The token decides which assistant answers.',
    }),
    ...textCompletionMembers,
    user: endUser,
  },
  {
    title: 'CompatTextCompletionRequest',
    about: 'A request of the older interface. Members that are not listed are accepted and have no effect.',
  },
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
      const requested = { ...requestOf(body), acting: publicCallerOf(body), clientTools: new Set<string>() }
      return answerText({ request, reply, openStreams }, host, requested)
    },
  )
}

/** Answers completions on behalf of a public assistant: each is a run on a new public thread. */
function publicChatHost(
  publicFamily: PublicFamily,
  assistant: AssistantRecord,
  { isStored }: { isStored: boolean },
): ChatHost {
  return {
    assistant,
    draft: () => publicFamily.threads.draft(assistant, { isStored }),
    input: (given, loc) => publicFamily.input(assistant, given, loc),
    ...publicFamily.runsOf(assistant),
    start: publicFamily.start,
    forget: publicFamily.forget,
  }
}
