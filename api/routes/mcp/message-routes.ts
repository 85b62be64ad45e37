import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
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
  type McpRequest,
  McpMessage,
  McpResponse,
  asks,
  cancelledIdOf,
  isCall,
  isRequest,
  progressTokenOf,
} from './messages.ts'
import { type ServerOptions, createMcpServer } from './server.ts'
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
  const followed = asks(message) && (await isToolCall(message)) ? await startToolRun(request, message) : undefined
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
async function startToolRun(request: FastifyRequest, { params }: McpRequest): Promise<FollowedRun | undefined> {
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

/** Longer than a search. A run has its own time, and `answerOf` ends with it. */
const answerMs = 60_000
/** Codes of JSON-RPC and of the protocol. */
const invalidRequest = -32600
const requestTimedOut = -32001

/**
 * Why the SDK's server would never answer a request: it passes over what is none by its own schema, such as one with
 * members that JSON-RPC does not know. Undefined if it answers. Ask before a run is started or a stream is opened.
 */
async function refusalOf(request: McpRequest): Promise<McpResponse | undefined> {
  const { JSONRPCRequestSchema } = await import('@modelcontextprotocol/sdk/types.js')
  const { error } = JSONRPCRequestSchema.safeParse(request)
  if (error === undefined) return undefined
  const [issue] = error.issues
  const place = issue?.path.join('.') || 'the message'
  return errorOf(request, invalidRequest, `Invalid request: ${place}: ${issue?.message ?? 'is not valid'}`)
}

/** Whether the server will answer a call of a tool with its result: otherwise no run is started for it. */
async function isToolCall(request: McpRequest): Promise<boolean> {
  const { CallToolRequestSchema } = await import('@modelcontextprotocol/sdk/types.js')
  const { success, data } = CallToolRequestSchema.safeParse(request)
  // Tasks of the protocol are not offered.
  return success && data.params.task === undefined
}

/** What the SDK's server answers to one request; an error if it does not answer in time. */
async function answerOfServer(
  options: ServerOptions & { waitsForRun: boolean },
  request: McpRequest,
): Promise<McpResponse> {
  const server = await createMcpServer(options)
  const answer = Promise.withResolvers<McpResponse>()
  const transport: Transport = {
    start: async () => {},
    send: async (message) => {
      if (!('method' in message)) answer.resolve(message as McpResponse)
    },
    close: async () => transport.onclose?.(),
  }
  await server.connect(transport)
  const giveUp = () => answer.resolve(errorOf(request, requestTimedOut, 'The request was not answered in time.'))
  const timer = options.waitsForRun ? undefined : setTimeout(giveUp, answerMs)
  try {
    transport.onmessage?.(request as JSONRPCMessage)
    return await answer.promise
  } finally {
    clearTimeout(timer)
    await server.close()
  }
}

function errorOf({ id }: McpRequest, code: number, message: string): McpResponse {
  return { jsonrpc: '2.0', id, error: { code, message } }
}
