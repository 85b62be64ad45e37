import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ownerRunError } from '../../../../domain/public-run-error.ts'
import type { RunError, RunRecord } from '../../../../domain/records/run.ts'
import { factsOf } from '../../../../domain/responses/facts.ts'
import { itemsOf } from '../../../../domain/responses/items-of.ts'
import { pageOf } from '../../../../services/cursor-page.ts'
import type { FollowedRun } from '../../../../services/runs/index.ts'
import type { NewResponse } from '../../../../services/v1/responses/index.ts'
import { callerOf } from '../../../plugins/authentication.ts'
import { answerIsFollowed, followOnce } from '../../../plugins/idempotency.ts'
import { logRun } from '../../../plugins/logging.ts'
import { listPage } from '../../public/compat-objects.ts'
import { endOf, waitForEnd } from '../../public/run-end.ts'
import { ListQuery } from '../../public/thread-schemas.ts'
import { type V1RunDeps, DeletedAnswer, operation, toDeleted, v1Config, v1Refusals } from '../v1-route.ts'
import { currentConnection } from './connection.ts'
import { conversationOf } from './conversation-of.ts'
import { IncludeQuery, includedIn } from './included.ts'
import { readRequest } from './read-request.ts'
import { ResponseCreateRequest } from './request-schemas.ts'
import { ResponseItemList, ResponseShape } from './response-schemas.ts'
import { messagesOf, sealOf, streamResponse } from './stream-response.ts'
import { summarise } from './summarise.ts'
import { type SealThought, type Shown, itemContext, toResponse } from './to-response.ts'

const params = Type.Object({ response_id: Type.String({ minLength: 1, maxLength: 200 }) })
const responseOrStream = {
  200: {
    description: 'The response; with `stream` its events as server-sent events.',
    content: { 'application/json': { schema: ResponseShape }, 'text/event-stream': { schema: Type.String() } },
  },
}
const nothingSent = -1

/** `responses`: runs of an assistant or a model, in the shapes of OpenAI's responses API. */
export const v1ResponseRoutes: FastifyPluginAsyncTypebox<V1RunDeps> = async (app, { v1, openStreams }) => {
  const { responses, conversations } = v1
  const includedOf = (requested: Parameters<typeof includedIn>[0]) => ({
    ...includedIn(requested),
    baseUrl: v1.baseUrl,
  })

  app.post(
    '/responses',
    {
      config: { ...v1Config, idempotent: true, staysOpen: true, limits: ['runs_user'], largeBody: 'messages' },
      schema: {
        ...operation(
          'responses.create',
          'Answer with an assistant or a model',
          'Each response is a durable run. Members that would change the answer and are not supported are refused by their names.',
        ),
        body: ResponseCreateRequest,
        response: { ...responseOrStream, ...v1Refusals(402, 404, 413, 424, 429, 502, 504) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { conversation: named, stream, include, previous_response_id: previous, context_management } = request.body
      const connection = currentConnection.getStore()
      const retained = connection?.retained
      const conversation = await conversationOf(conversations, caller, named)
      const foundText = previous ? await responses.foundTools(caller, previous, retained) : undefined
      const requested = {
        ...readRequest(request.body, caller, { conversation, foundText }),
        ...(retained === undefined ? {} : { retained }),
      }
      const followed = await followOnce(request, {
        start: async (id, confirm) => {
          const [management] = context_management ?? []
          const shortened = management === undefined ? requested : await shorten(request, reply, requested, management)
          return responses.create(caller, shortened, id, confirm)
        },
        find: (id) => responses.find(caller, id),
        follow: responses.follow,
        keyEndsWithThread: requested.isStored,
      })
      const { run, feed } = followed
      logRun(reply, run)
      const included = includedOf({ include: include ?? [] })
      const response = responseOf(run)
      if (requested.isBackground && !stream) {
        feed.close()
        return toResponse({ ...response, run: await responses.reread(run) }, [], included)
      }
      if (!requested.isStored) connection?.retain(run)
      const forget = forgetting(request, followed, requested.isStored || connection !== undefined)
      // The stored answer of a key would outlive the response.
      if (stream || !requested.isStored) await answerIsFollowed(request)
      if (!stream) {
        // Of a response that has used up its tokens there is what was said so far: it is incomplete.
        const isAnswer = ({ type }: RunError) => type === 'max_completion_tokens'
        const end = await waitForEnd(feed, reply, openStreams, { toError: ownerRunError, isAnswer }).finally(forget)
        const shown = { ...included, seal: sealOf(run, () => end, responses.sealThought) }
        return toResponse({ ...response, run: await rereadEnd(run) }, messagesOf(end), shown)
      }
      follow(reply, followed, { included, after: nothingSent }, forget)
      return reply
    },
  )

  app.get(
    '/responses/:response_id',
    {
      config: { ...v1Config, staysOpen: true },
      schema: {
        ...operation(
          'responses.read',
          'Read a response, or its stream',
          'With `stream`, all events of the response, or those after the number in `starting_after`. A response has the same events with the same numbers each time.',
        ),
        params,
        querystring: Type.Object({
          stream: Type.Optional(Type.Boolean()),
          starting_after: Type.Optional(Type.Integer({ minimum: 0 })),
          include_obfuscation: Type.Optional(Type.Boolean()),
          ...IncludeQuery,
        }),
        response: { ...responseOrStream, ...v1Refusals(404) },
      },
    },
    async (request, reply) => {
      const { stream, starting_after: after = nothingSent } = request.query
      const included = includedOf(request.query)
      const response = await responses.read(callerOf(request), request.params.response_id)
      if (!stream)
        return toResponse(response, await responses.outputOf(response.run), {
          ...included,
          seal: sealRead(response.run),
        })
      follow(reply, { run: response.run, feed: await responses.follow(response.run) }, { included, after })
      return reply
    },
  )

  app.post(
    '/responses/:response_id/cancel',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('responses.cancel', 'Cancel a response; one that has ended does not change'),
        params,
        response: { 200: ResponseShape, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const response = await responses.cancel(callerOf(request), request.params.response_id)
      return toResponse(response, await responses.outputOf(response.run), includedOf({}))
    },
  )

  app.delete(
    '/responses/:response_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation(
          'responses.delete',
          'Delete a response',
          'Items of a conversation stay in it, and those from which later responses go on stay until these are deleted.',
        ),
        params,
        response: {
          200: DeletedAnswer('response', 'V1ResponseDeleted', 'The deletion of a response.'),
          ...v1Refusals(404),
        },
      },
    },
    async (request) => {
      const { response_id: id } = request.params
      const result = await responses.remove(callerOf(request), id)
      return result === undefined
        ? { id, object: 'response' as const, deleted: true }
        : toDeleted('response', id, result)
    },
  )

  app.get(
    '/responses/:response_id/input_items',
    {
      config: v1Config,
      schema: {
        ...operation('responses.inputItems.list', 'The items that the request of a response brought'),
        params,
        querystring: Type.Object({ ...ListQuery.properties, ...IncludeQuery }),
        response: { 200: ResponseItemList, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const response = await responses.read(callerOf(request), request.params.response_id)
      const messages = responses.inputOf(response)
      const context = itemContext(response, () => messages, { ...includedOf(request.query), isOpen: false })
      const items = itemsOf(messages, { ...context, functions: undefined })
      return listPage(pageOf(items, ({ id }) => id, request.query))
    },
  )

  /** A conversation that has become too long begins with a summary. */
  async function shorten(
    request: FastifyRequest,
    reply: FastifyReply,
    requested: NewResponse,
    { compact_threshold: threshold }: { compact_threshold?: number | null },
  ): Promise<NewResponse> {
    const caller = callerOf(request)
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const limits = { threshold: threshold ?? undefined, signal: gone.signal }
    const compaction = await responses.compactionOf(caller, requested, limits)
    if (compaction === undefined) return requested
    const { summary } = await summarise({ responses, openStreams, request, reply }, caller, compaction.request)
    return { ...requested, input: compaction.rest, summary }
  }

  /** What its provider must get back is with the stored message, which a later response reads itself. */
  function sealRead(run: RunRecord): SealThought {
    return ({ data: { reasoning = '' } }) => responses.sealThought(run, { reasoning })
  }

  /** The record of a run that has ended, as far as it still exists. */
  async function rereadEnd(run: RunRecord): Promise<RunRecord> {
    const stored = await responses.reread(run)
    return stored.finished_at === undefined ? { ...stored, status: 'success', finished_at: new Date() } : stored
  }

  function follow(
    reply: FastifyReply,
    { run, feed }: FollowedRun,
    options: { included: Shown; after: number },
    forget: () => Promise<void> = async () => undefined,
  ): void {
    const { finished, stop } = streamResponse(
      reply,
      { response: responseOf(run), feed },
      { ...options, seal: responses.sealThought, reread: () => rereadEnd(run) },
    )
    openStreams.track(finished.finally(forget), stop)
  }

  /** Deletes a response that is not to be stored, when its caller has the answer. */
  function forgetting(request: FastifyRequest, { run, feed }: FollowedRun, isStored: boolean): () => Promise<void> {
    const canRejoin = typeof request.headers['idempotency-key'] === 'string'
    return async () => {
      // A caller who left may repeat the request with the same key. Otherwise the retention deletes the thread, and also
      // when this deletion cannot begin.
      const isOver = endOf(feed.view) !== undefined
      if (isStored || (canRejoin && !isOver)) return
      await responses
        .forget(run, { isOver })
        .catch((error: unknown) =>
          request.log.warn({ err: error }, 'a response that is not to be stored stays for now'),
        )
    }
  }
}

function responseOf(run: RunRecord) {
  const facts = factsOf(run)
  if (facts === undefined) throw new Error('the run is no response')
  return { run, facts }
}
