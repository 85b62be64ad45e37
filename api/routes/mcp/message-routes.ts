import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Value } from 'typebox/value'
import type { Services } from '../../../composition/platform.ts'
import { AppError } from '../../../domain/errors.ts'
import type { FollowedRun } from '../../../services/runs/index.ts'
import { answerIsFollowed, followOnce, keyOwnerOf, orNull } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import { type OpenStreams, openEventStream } from '../../sse/event-stream.ts'
import { refusals } from '../schemas.ts'
import { answerOfServer, isToolCall, refusalOf } from './answer-server.ts'
import { answerOf } from './ask.ts'
import { createMcpEvents } from './events.ts'
import {
  McpHeaders,
  McpParams,
  hostOf,
  mcpConfig,
  mcpEvents,
  requireAccepted,
  requireSession,
  sessionHeader,
  tags,
  takesPriming,
} from './mcp-route.ts'
import {
  type JsonRpcId,
  McpMessage,
  McpResponse,
  type McpRequest,
  asks,
  cancelledIdOf,
  isCall,
  isRequest,
  progressTokenOf,
} from './messages.ts'
import { AskArguments } from './tools.ts'

type Deps = Pick<Services, 'publicFamily' | 'idempotency' | 'mcpSessions'> & { openStreams: OpenStreams }

/** Messages of the Model Context Protocol, one in each request. */
export const mcpMessageRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const about = ({ mcpHost }: FastifyRequest) =>
    mcpHost === null ? '' : deps.publicFamily.about(mcpHost.assistant).description

  app.post(
    '/mcp/:aid',
    {
      config: {
        ...mcpConfig,
        idempotent: true,
        limits: ['public_client', 'public_runs_client', 'public_runs_token', 'public_runs_assistant', 'runs_user'],
        isLimited: ({ body }) => isCall(body as McpMessage),
      },
      schema: {
        operationId: 'mcp.message',
        summary: 'A message of the Model Context Protocol to an assistant (streamable HTTP)',
        description:
          'The tools `ask` and `search`; for the owner also the texts of files as resources. Calls of tools are answered with events, other requests with JSON, and notifications with 202.',
        tags,
        params: McpParams,
        headers: McpHeaders,
        body: McpMessage,
        response: {
          200: {
            description: mcpEvents.description,
            content: { ...mcpEvents.content, 'application/json': { schema: McpResponse } },
          },
          202: Type.Unsafe<undefined>(
            Type.Null({ description: 'The notification or answer has arrived. There is no body.' }),
          ),
          ...refusals(400, 401, 402, 403, 404, 406, 409, 503),
        },
      },
      preValidation: async (request) => {
        // The protocol tells requests of one session apart by their ids: a repeated one follows the run of the first.
        const { body: message, headers } = request
        const session = headers[sessionHeader]
        if (!Value.Check(McpMessage, message) || !isRequest(message) || !asks(message)) return
        if (typeof session === 'string') headers['idempotency-key'] ??= keyOf(session, message.id)
      },
    },
    async (request, reply) => {
      const message = request.body
      requireAccepted(request, ['application/json', 'text/event-stream'])
      if (!isRequest(message) || message.method !== 'initialize') requireSession(request, deps.mcpSessions)
      if (!isRequest(message)) {
        await cancelNamed(request, deps, message)
        return reply.code(202).send(undefined)
      }
      const refusal = await refusalOf(message)
      if (refusal !== undefined) return reply.type('application/json').send(refusal)
      if (isCall(message)) return answerCall(request, reply, { ...deps, message, about: about(request) })
      if (message.method === 'initialize')
        reply.header(sessionHeader, deps.mcpSessions.begin(hostOf(request).assistant._id))
      const server = { host: hostOf(request), about: about(request), ask: noRun, waitsForRun: false }
      return reply.type('application/json').send(await answerOfServer(server, message))
    },
  )
}

/** Answers a call of a tool with events. The run of `ask` goes on when its client leaves. */
async function answerCall(
  request: FastifyRequest,
  reply: FastifyReply,
  { openStreams, message, about }: { openStreams: OpenStreams; message: McpRequest; about: string },
): Promise<FastifyReply> {
  const host = hostOf(request)
  // Before the answer begins, so that a refusal still has its status.
  const followed = asks(message) && (await isToolCall(message)) ? await startAsked(request, message) : undefined
  if (followed !== undefined) {
    await answerIsFollowed(request)
    logRun(reply, followed.run)
  }
  const stream = openEventStream(reply)
  const events = createMcpEvents(stream, {
    run: followed?.run._id,
    id: message.id,
    token: progressTokenOf(message),
  })
  if (followed !== undefined && takesPriming(request)) events.prime()
  const ask =
    followed === undefined ? noRun : () => answerOf(followed, { reply, openStreams, onProgress: events.progress })
  try {
    const answer = await answerOfServer({ host, about, ask, waitsForRun: followed !== undefined }, message)
    // Without an answer the client comes back for it.
    if (!openStreams.isOver) events.send(answer)
  } finally {
    stream.end()
  }
  return reply
}

/** The run of a call of `ask`; undefined if its arguments are wrong, which the server then says. */
async function startAsked(request: FastifyRequest, { params }: McpRequest): Promise<FollowedRun | undefined> {
  const host = hostOf(request)
  const args: unknown = params && 'arguments' in params ? params.arguments : undefined
  if (!Value.Check(AskArguments, args)) return undefined
  return followOnce(request, {
    find: host.find,
    follow: host.follow,
    start: (id) => host.ask(args.question, args.thread_id, id),
  })
}

/** Cancels the run of the request that a notification names. A late notification finds nothing. */
async function cancelNamed(
  request: FastifyRequest,
  { idempotency }: Pick<Deps, 'idempotency'>,
  message: McpMessage,
): Promise<void> {
  const host = hostOf(request)
  const id = cancelledIdOf(message)
  const session = request.headers[sessionHeader]
  if (id === undefined || typeof session !== 'string') return
  const { caller } = keyOwnerOf(request)
  for (const runId of await idempotency.idsOf({ caller, key: keyOf(session, id) })) {
    const run = await orNull(host.find(runId))
    if (run !== null) await host.cancel(run)
  }
}

async function noRun(): Promise<never> {
  throw new AppError('internal', 'no run was started for this call')
}

function keyOf(session: string, id: JsonRpcId): string {
  return `mcp-${createHash('sha256')
    .update(JSON.stringify([session, id]))
    .digest('base64url')}`
}
