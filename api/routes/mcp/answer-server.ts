import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { McpRequest } from './messages.ts'
import { type ServerOptions, createMcpServer } from './server.ts'

/** What the SDK's server answers to one request. */
export async function answerOfServer(options: ServerOptions, request: McpRequest): Promise<JSONRPCMessage> {
  const server = await createMcpServer(options)
  const answer = Promise.withResolvers<JSONRPCMessage>()
  const transport: Transport = {
    start: async () => {},
    send: async (message) => {
      if (!('method' in message)) answer.resolve(message)
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
