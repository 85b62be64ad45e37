import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { readJson, sendJson, startHttpServer } from './http-server.ts'

interface McpOptions {
  /** Adds the server's tools; called for each session. */
  register: (server: McpServer) => void
  /** What every request must carry as `Authorization`, else 401. */
  authorization?: string
}

/** A real MCP server (the reference implementation) over streamable HTTP, with sessions. */
export async function startMcpServer({ register, authorization }: McpOptions) {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const seen = { requests: 0, sessionsEnded: 0 }
  const server = await startHttpServer(async (request, response) => {
    seen.requests++
    if (authorization !== undefined && request.headers.authorization !== authorization)
      return void response.writeHead(401).end()
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? sessions.get(id) : undefined
    if (known) {
      await known.handleRequest(request, response)
      if (request.method === 'DELETE') seen.sessionsEnded++
      return
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => void sessions.set(sessionId, transport),
    })
    const mcp = new McpServer({ name: 'test', version: '1.0.0' })
    register(mcp)
    await mcp.connect(transport)
    await transport.handleRequest(request, response)
  })
  return { url: `${server.url}/mcp`, seen, close: server.close }
}

/**
 * A server that lists exactly these tools, whatever is wrong with them, and answers every call with `ok` unless
 * `answerCall` answers it.
 */
export async function startRawMcpServer(
  tools: object[],
  answerCall?: (call: { id: number; name: string }, response: ServerResponse) => Promise<void>,
  goOn?: (eventId: string, response: ServerResponse) => void,
) {
  const calls: unknown[] = []
  const server = await startHttpServer(async (request, response) => {
    const eventId = request.headers['last-event-id']
    if (request.method === 'GET' && typeof eventId === 'string' && goOn) return goOn(eventId, response)
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method, params } = await readJson<{ id?: number; method: string; params?: any }>(request)
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'tools/call') calls.push(params)
    if (method === 'tools/call' && answerCall) return answerCall({ id, name: params.name }, response)
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'raw', version: '1' },
      },
      'tools/list': { tools },
      'tools/call': { content: [{ type: 'text', text: 'ok' }] },
    }
    sendJson(response, 200, { jsonrpc: '2.0', id, result: results[method] ?? {} })
  })
  return { url: `${server.url}/mcp`, calls, close: server.close }
}
