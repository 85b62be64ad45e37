import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import type { Caller } from '../../../services/owner.ts'
import { tagsOf } from '../../../services/v1/stored-completions.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { type ChatHost, answerChat, requestOfChat } from '../public/answer-chat.ts'
import { ChatCompletion, completionOrChunks } from '../public/chat-schemas.ts'
import { functionsOf } from '../public/client-messages.ts'
import { accountCallerOf } from '../public/model-parameters.ts'
import { TextCompletion, answerText, requestOf, textCompletionMembers } from '../public/text-completion.ts'
import { nullable } from '../schemas.ts'
import { V1ChatRequest } from './chat-schemas.ts'
import { type V1RunDeps, operation, strict, v1Config, v1Refusals } from './v1-route.ts'

/** `chat/completions`: an assistant of the project, or a model of the settings, answers a conversation. */
export const v1ChatRoutes: FastifyPluginAsyncTypebox<V1RunDeps> = async (app, { v1: { chat }, openStreams }) => {
  app.post(
    '/chat/completions',
    {
      config: { ...v1Config, idempotent: true, staysOpen: true, limits: ['runs_user'], largeBody: 'messages' },
      schema: {
        ...operation(
          'chat.completions.create',
          'Answer a conversation',
          'An assistant answers with its configuration and tools; to a model, nothing is added. The answer survives failures as any run does. Calls of functions in `tools` end the answer.',
        ),
        body: V1ChatRequest,
        response: {
          200: completionOrChunks(ChatCompletion),
          ...v1Refusals(402, 404, 409, 413, 429, 499, 500, 502, 503, 504),
        },
      },
    },
    async (request, reply) => {
      const { body } = request
      const caller = callerOf(request)
      const requested = requestOfChat(body)
      const answering = await chat.answering(caller, body.model)
      const isStored = body.store ?? false
      const ownTools = chat.clientToolsOf(answering.assistant)
      const metadata = body.metadata ?? undefined
      const host = chatHostOf(chat, caller, answering, { isStored })
      return answerChat({ request, reply, openStreams }, host, {
        ...requested,
        overrides: {
          ...requested.overrides,
          ...namesForModelOf(body),
          ...(answering.model === undefined ? {} : { model: answering.model }),
        },
        acting: accountCallerOf(body, caller),
        isStored,
        ...(isStored ? { completion: factsOf(body.model, metadata, ownTools) } : {}),
        metadata: isStored ? (metadata ?? {}) : undefined,
        clientTools: new Set([...ownTools, ...functionsOf(body).map(({ name }) => name)]),
        showsReasoning: true,
        isOwner: true,
      })
    },
  )
}

function factsOf(model: string, metadata: Record<string, string> = {}, clientTools: string[]) {
  return {
    model,
    stored: true,
    tags: tagsOf(metadata),
    ...(clientTools.length > 0 ? { client_tools: clientTools } : {}),
  }
}

function namesForModelOf({ user, safety_identifier: identifier, prompt_cache_key: key }: V1ChatRequest) {
  return {
    ...(user ? { user } : {}),
    ...(identifier ? { safety_identifier: identifier } : {}),
    ...(key ? { prompt_cache_key: key } : {}),
  }
}

const V1CompletionRequest = strict(
  {
    model: Type.String({
      minLength: 1,
      maxLength: requestLimits.nameLength,
      description: 'An assistant of the project, by its id or its name, or a model of the settings.',
    }),
    ...textCompletionMembers,
    user: Type.Optional(nullable(Type.String({ maxLength: requestLimits.nameLength }))),
  },
  { title: 'V1CompletionRequest', about: 'Prompts, each of which the chat model answers.' },
)

/** `completions`, the older interface: the chat model answers each prompt as a question. */
export const v1CompletionRoutes: FastifyPluginAsyncTypebox<V1RunDeps> = async (app, { v1: { chat }, openStreams }) => {
  app.post(
    '/completions',
    {
      config: { ...v1Config, idempotent: true, staysOpen: true, limits: ['runs_user'], largeBody: 'messages' },
      schema: {
        ...operation(
          'completions.create',
          'Answer a text',
          'The older interface. The chat model answers each prompt as a question; nothing is kept.',
        ),
        body: V1CompletionRequest,
        response: {
          200: completionOrChunks(TextCompletion),
          ...v1Refusals(402, 404, 409, 413, 429, 499, 500, 502, 503, 504),
        },
      },
    },
    async (request, reply) => {
      const { body } = request
      const caller = callerOf(request)
      const requested = requestOf(body)
      const answering = await chat.answering(caller, body.model)
      const host = chatHostOf(chat, caller, answering, { isStored: false })
      return answerText({ request, reply, openStreams }, host, {
        ...requested,
        overrides: {
          ...requested.overrides,
          ...(body.user ? { user: body.user } : {}),
          ...(answering.model === undefined ? {} : { model: answering.model }),
        },
        acting: accountCallerOf(body, caller),
        clientTools: new Set(chat.clientToolsOf(answering.assistant)),
        isOwner: true,
      })
    },
  )
}

type Chat = V1RunDeps['v1']['chat']

/** Answers completions on behalf of a project. */
function chatHostOf(
  chat: Chat,
  caller: Caller,
  answering: Awaited<ReturnType<Chat['answering']>>,
  { isStored }: { isStored: boolean },
): ChatHost {
  return {
    assistant: answering.assistant,
    draft: () => chat.draft(caller, answering, { isStored }),
    input: (given, loc) => chat.input(caller, given, loc),
    start: chat.start,
    reserve: (newRun, runIds) => chat.reserve({ ...newRun, userId: caller.userId }, runIds),
    find: (id) => chat.find(caller, id),
    follow: chat.follow,
    forget: chat.forget,
  }
}
