import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { McpRequest, McpResponse } from './messages.ts'
import { type ServerOptions, createMcpServer } from './server.ts'

/** Longer than a search. A run has its own time, and `answerOf` ends with it. */
const answerMs = 60_000
/** Codes of JSON-RPC and of the protocol. */
const invalidRequest = -32600
const requestTimedOut = -32001

/**
 * Why the SDK's server would never answer a request: it passes over what is none by its own schema, such as one with
 * members that JSON-RPC does not know. Undefined if it answers. Ask before a run is started or a stream is opened.
 */
export async function refusalOf(request: McpRequest): Promise<McpResponse | undefined> {
  const { JSONRPCRequestSchema } = await import('@modelcontextprotocol/sdk/types.js')
  const { error } = JSONRPCRequestSchema.safeParse(request)
  if (error === undefined) return undefined
  const [issue] = error.issues
  const place = issue?.path.join('.') || 'the message'
  return errorOf(request, invalidRequest, `Invalid request: ${place}: ${issue?.message ?? 'is not valid'}`)
}

/** Whether the server will answer a call of a tool with its result: otherwise no run is started for it. */
export async function isToolCall(request: McpRequest): Promise<boolean> {
  const { CallToolRequestSchema } = await import('@modelcontextprotocol/sdk/types.js')
  const { success, data } = CallToolRequestSchema.safeParse(request)
  // Tasks of the protocol are not offered.
  return success && data.params.task === undefined
}

/** What the SDK's server answers to one request; an error if it does not answer in time. */
export async function answerOfServer(
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
