import Type, { type Static } from 'typebox'

/** JSON-RPC 2.0, as MCP uses it: one message for each request of HTTP. */
export const JsonRpcId = Type.Union([Type.String({ maxLength: 200 }), Type.Integer()])
export type JsonRpcId = Static<typeof JsonRpcId>

export const McpMessage = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(JsonRpcId),
    method: Type.Optional(Type.String({ maxLength: 100 })),
    params: Type.Optional(Type.Object({}, { additionalProperties: true })),
    result: Type.Optional(Type.Object({}, { additionalProperties: true })),
    error: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { title: 'McpMessage', about: 'A message of JSON-RPC 2.0.', additionalProperties: true },
)
export type McpMessage = Static<typeof McpMessage>

/** What the server sends while a tool works. */
export const McpProgress = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    method: Type.Literal('notifications/progress'),
    params: Type.Object({ progressToken: JsonRpcId, progress: Type.Integer(), message: Type.String() }),
  },
  { title: 'McpProgress', about: 'How far the answer to a call is.' },
)
export type McpProgress = Static<typeof McpProgress>

export const McpResponse = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: JsonRpcId,
    result: Type.Optional(Type.Object({}, { additionalProperties: true })),
    error: Type.Optional(Type.Object({ code: Type.Integer(), message: Type.String() })),
  },
  { title: 'McpResponse', about: 'The answer to a request.', description: 'Has either `result` or `error`.' },
)
export type McpResponse = Static<typeof McpResponse>

export type McpRequest = McpMessage & { id: JsonRpcId; method: string }

export const isRequest = (message: McpMessage): message is McpRequest =>
  message.id !== undefined && message.method !== undefined

/** Whether the message starts a run. */
export function asks({ method, params }: McpMessage): boolean {
  return method === 'tools/call' && params !== undefined && 'name' in params && params.name === 'ask'
}

/** Whether the message costs more than an answer from memory. */
export function isCall({ method }: McpMessage): boolean {
  return method === 'tools/call'
}

/** How a client wants to be told of progress; undefined if it does not. */
export function progressTokenOf({ params }: McpMessage): JsonRpcId | undefined {
  const meta: unknown = params && '_meta' in params ? params._meta : undefined
  if (typeof meta !== 'object' || meta === null || !('progressToken' in meta)) return undefined
  const { progressToken: token } = meta
  const isGood = (typeof token === 'string' && token.length <= 200) || Number.isInteger(token)
  return isGood ? (token as JsonRpcId) : undefined
}

/** The request that a notification cancels. */
export function cancelledIdOf({ method, params }: McpMessage): JsonRpcId | undefined {
  if (method !== 'notifications/cancelled' || params === undefined || !('requestId' in params)) return undefined
  const { requestId: id } = params
  return typeof id === 'string' || Number.isInteger(id) ? (id as JsonRpcId) : undefined
}
