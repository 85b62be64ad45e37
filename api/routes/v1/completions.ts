import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import { nullable } from '../schemas.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { completionOrChunks } from '../public/chat-schemas.ts'
import { accountCallerOf } from '../public/model-parameters.ts'
import { TextCompletion, answerText, askedOf, textCompletionMembers } from '../public/text-completion.ts'
import { chatHostOf } from './chat-host.ts'
import { type V1RunDeps, operation, strict, v1Config, v1Refusals } from './v1-route.ts'

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
  { title: 'V1CompletionRequest' },
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
      const asked = askedOf(body)
      const answering = await chat.answering(caller, body.model)
      const host = chatHostOf(chat, caller, answering, { isStored: false })
      return answerText({ request, reply, openStreams }, host, {
        ...asked,
        overrides: {
          ...asked.overrides,
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
