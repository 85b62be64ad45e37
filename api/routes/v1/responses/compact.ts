import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { messagesFromJson } from '../../../../domain/messages.ts'
import { compactionId, messageItemId, responseId } from '../../../../domain/responses/ids.ts'
import { Compaction, InputMessage } from '../../../../domain/responses/items.ts'
import { saidIn, summaryRequest } from '../../../../services/v1/responses/compaction.ts'
import { callerOf } from '../../../plugins/authentication.ts'
import { logRun } from '../../../plugins/logging.ts'
import { secondsOf } from '../../public/compat-objects.ts'
import { type V1RunDeps, operation, v1Config, v1Refusals } from '../v1-route.ts'
import { conversationOf } from './conversation-of.ts'
import { readRequest } from './read-request.ts'
import { InputTokensRequest, ResponseCompactRequest } from './request-schemas.ts'
import { Usage } from './response-schemas.ts'
import { summarise } from './summarise.ts'
import { usageIn } from './to-response.ts'

const CompactedResponse = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response.compaction'),
    created_at: Type.Integer(),
    output: Type.Array(Type.Union([InputMessage, Compaction]), {
      description: 'What people have said, and the summary of all: the beginning of the next input.',
    }),
    usage: Usage,
  },
  { title: 'V1CompactedResponse', about: 'A conversation with a summary in place of its answers.' },
)
const InputTokens = Type.Object(
  { object: Type.Literal('response.input_tokens'), input_tokens: Type.Integer() },
  { title: 'V1InputTokens', about: 'How long a question is, about.' },
)

const noUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

/** What clients ask about a response before it: how long its question is, and a shorter one. */
export const v1CompactRoutes: FastifyPluginAsyncTypebox<V1RunDeps> = async (app, { v1, openStreams }) => {
  const { responses, conversations } = v1

  app.post(
    '/responses/compact',
    {
      config: { ...v1Config, staysOpen: true, limits: ['runs_user'], largeBody: 'messages' },
      schema: {
        ...operation(
          'responses.compact',
          'Summarise a conversation',
          'A model writes the summary, which only this service can read: send `output` back as the beginning of `input`.',
        ),
        body: ResponseCompactRequest,
        response: { 200: CompactedResponse, ...v1Refusals(402, 404, 413, 424, 429, 499, 500, 502, 504) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { instructions, ...body } = request.body
      const whole = readRequest({ ...body, input: body.input ?? undefined, store: false }, caller)
      const requested = summaryRequest(whole, { entries: whole.input, instructions: instructions ?? undefined })
      const { summary, run } = await summarise({ responses, openStreams, request, reply }, caller, requested)
      logRun(reply, run)
      const said = saidIn(messagesFromJson(run.input_json))
      return {
        id: responseId(run._id),
        object: 'response.compaction' as const,
        created_at: secondsOf(run.created_at),
        output: [
          // Their pictures and files are in the summary: what is sent back has no bytes.
          ...said.map(({ data }) => ({
            id: messageItemId(data.id),
            type: 'message' as const,
            status: 'completed' as const,
            role: 'user' as const,
            content: [{ type: 'input_text' as const, text: data.content }],
          })),
          {
            id: compactionId(run._id),
            type: 'compaction' as const,
            encrypted_content: responses.sealSummary(run, summary),
          },
        ],
        usage: usageIn(run.usage ?? noUsage),
      }
    },
  )

  app.post(
    '/responses/input_tokens',
    {
      config: { ...v1Config, limits: ['runs_user'], largeBody: 'messages' },
      schema: {
        ...operation(
          'responses.inputTokens.count',
          'Count the tokens of a question',
          'About: they are counted in one encoding for all models. Tools of assistants and MCP servers are not counted.',
        ),
        body: InputTokensRequest,
        response: { 200: InputTokens, ...v1Refusals(404, 413, 429) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { model, personality: _style, input, ...body } = request.body
      const conversation = await conversationOf(conversations, caller, body.conversation)
      const requested = readRequest(
        { ...body, model: model ?? '', input: input ?? '', conversation: undefined },
        caller,
      )
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const counted = { ...requested, conversation, model: model ?? undefined }
      return {
        object: 'response.input_tokens' as const,
        input_tokens: await responses.tokensOf(caller, counted, gone.signal),
      }
    },
  )
}
