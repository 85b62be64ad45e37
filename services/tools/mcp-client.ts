import { within } from '../within.ts'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  type CallToolResult,
  CallToolResultSchema,
  ListToolsResultSchema,
  McpError,
  type Tool as RemoteTool,
} from '@modelcontextprotocol/sdk/types.js'
import { AddressRefusedError } from '../../domain/address-refused-error.ts'
import type { Outbound } from '../outbound.ts'

export interface McpServer {
  url: string
  headers: Record<string, string>
}

/** Limit for a server's list: no model can use more tools than this. */
const maxTools = 128

/** The tools of an MCP server (Model Context Protocol, streamable HTTP), all pages of the list. */
export function listRemoteTools(
  server: McpServer,
  outbound: Pick<Outbound, 'fetch'>,
  signal: AbortSignal,
): Promise<RemoteTool[]> {
  return withClient(server, outbound, signal, async (client) => {
    const tools: RemoteTool[] = []
    let cursor: string | undefined
    do {
      // `listTools` would compile the server's output schemas in this thread.
      const page = await client.request(
        { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
        ListToolsResultSchema,
        { signal },
      )
      tools.push(...page.tools)
      cursor = page.nextCursor
    } while (cursor !== undefined && tools.length < maxTools)
    return tools.slice(0, maxTools)
  })
}

export function callRemoteTool(
  server: McpServer,
  outbound: Pick<Outbound, 'fetch'>,
  call: { name: string; arguments: Record<string, unknown> },
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<CallToolResult> {
  return withClient(server, outbound, signal, async (client) => {
    return client.request({ method: 'tools/call', params: call }, CallToolResultSchema, { signal, timeout: timeoutMs })
  })
}

/**
 * One session for one piece of work: nothing stays open between calls, so that a worker that dies or a server that
 * restarts leaves nothing behind. Errors contain no addresses or keys.
 */
async function withClient<T>(
  server: McpServer,
  outbound: Pick<Outbound, 'fetch'>,
  signal: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ name: 'assistant-platform', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: (url, init) => outbound.fetch(url, init),
    requestInit: { headers: server.headers },
    // The engine decides about retries; an interrupted stream of notifications does not matter.
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 100,
      maxReconnectionDelay: 100,
      reconnectionDelayGrowFactor: 1,
    },
  })
  try {
    await client.connect(transport, { signal })
    return await work(client)
  } catch (error) {
    signal.throwIfAborted()
    throw new Error(reasonOf(error), { cause: error })
  } finally {
    await endSession(transport, client)
  }
}

/** Ends the session without waiting long: a server may not support the request, or not answer. */
async function endSession(transport: StreamableHTTPClientTransport, client: Client): Promise<void> {
  const goodbye = transport.terminateSession().catch(() => undefined)
  await within(1000, goodbye)
  await client.close().catch(() => undefined)
}

function reasonOf(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof AddressRefusedError) return at.message
  }
  if (error instanceof McpError) return error.message
  if (error instanceof StreamableHTTPError && error.code !== undefined && error.code > 0)
    return `the MCP server answered with status ${error.code}`
  return 'the MCP server could not be reached'
}
