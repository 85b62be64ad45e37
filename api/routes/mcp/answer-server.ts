import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { McpRequest, McpResponse } from './messages.ts'
import { type ServerOptions, createMcpServer } from './server.ts'

/** What the SDK's server answers to one request. */
export async function answerOfServer(options: ServerOptions, request: McpRequest): Promise<McpResponse> {
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
  try {
    transport.onmessage?.(request as JSONRPCMessage)
    return await answer.promise
  } finally {
    await server.close()
  }
}
