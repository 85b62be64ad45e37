import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  type CallToolResult,
  type Tool as RemoteTool,
  CallToolResultSchema,
  ListToolsResultSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import { addAll } from '../../domain/add-all.ts'
import { AppError } from '../../domain/errors.ts'
import { JsonLimitError } from '../../domain/foreign-json.ts'
import { parseExactJson } from '../../domain/json.ts'
import type { Outbound } from '../outbound.ts'
import { within } from '../within.ts'

export interface McpServer {
  url: string
  headers: Record<string, string>
}

/** Limit for a server's list: no model can use more tools than this. */
const maxTools = 128

/** Streams that a client asks for in a session: a call has a minute. */
const maxStreams = 60

/** The tools of an MCP server (Model Context Protocol, streamable HTTP), all pages of the list. */
export function listRemoteTools(
  server: McpServer,
  outbound: Pick<Outbound, 'fetch'>,
  signal: AbortSignal,
): Promise<RemoteTool[]> {
  return withClient(server, outbound, signal, async (client, signal) => {
    const tools: RemoteTool[] = []
    let cursor: string | undefined
    do {
      // `listTools` would compile the server's output schemas in this thread.
      const page = await client.request(
        { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
        ListToolsResultSchema,
        { signal },
      )
      addAll(tools, page.tools)
      cursor = page.nextCursor
    } while (cursor !== undefined && tools.length < maxTools)
    return tools.slice(0, maxTools)
  })
}

/** Numbers of the result's `structuredContent` are written with the digits that the server sent. */
export async function callRemoteTool(
  server: McpServer,
  outbound: Pick<Outbound, 'fetch'>,
  call: { name: string; arguments: Record<string, unknown> },
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<CallToolResult> {
  const result = await withClient(server, outbound, signal, (client, signal) =>
    client.request({ method: 'tools/call', params: call }, CallToolResultSchema, { signal, timeout: timeoutMs }),
  )
  const { structuredContent } = result
  return structuredContent === undefined
    ? result
    : { ...result, structuredContent: withExactNumbers(structuredContent) }
}

/**
 * One session for one piece of work: nothing stays open between calls, so that a worker that dies or a server that
 * restarts leaves nothing behind. Errors contain no addresses or keys.
 */
async function withClient<T>(
  server: McpServer,
  outbound: Pick<Outbound, 'fetch'>,
  signal: AbortSignal,
  work: (client: Client, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const broken = new AbortController()
  const client = new Client({ name: 'assistant-platform', version: '1.0.0' })
  const report = (error: unknown) => broken.abort(error)
  let streams = 0

  /** The stream of a server's notifications, or one that goes on with an answer where the server has ended it. */
  async function listen(url: string | URL, init: RequestInit): Promise<Response> {
    const goesOn = new Headers(init.headers).has('last-event-id')
    // A server may end its streams as often as it likes.
    if (++streams > maxStreams) {
      if (goesOn) report(new Error('the MCP server has ended its streams too often'))
      return new Response(null, { status: 405 })
    }
    if (!goesOn) return outbound.fetch(url, init)
    try {
      const response = await outbound.fetch(url, init)
      if (!response.ok) report(new StreamableHTTPError(response.status, 'the stream cannot go on'))
      return keepingDigits(reportingFailure(response, report))
    } catch (error) {
      report(error)
      throw error
    }
  }

  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: async (url, init) => {
      if (init?.method === 'GET') return listen(url, init)
      const response = await outbound.fetch(url, init)
      return init?.method === 'POST' ? keepingDigits(reportingFailure(response, report)) : response
    },
    requestInit: { headers: server.headers },
    // For streams that the server ends to have the client come again (MCP 2025-11-25, Transports), when it says so with
    // `retry`. The engine decides about other retries: an attempt that fails is the last.
    reconnectionOptions: {
      maxRetries: 1,
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 1000,
      reconnectionDelayGrowFactor: 1,
    },
  })
  try {
    const either = AbortSignal.any([signal, broken.signal])
    await client.connect(transport, { signal: either })
    return await work(client, either)
  } catch (error) {
    signal.throwIfAborted()
    const cause: unknown = broken.signal.aborted ? broken.signal.reason : error
    throw new Error(reasonOf(cause), { cause })
  } finally {
    await endSession(transport, client)
  }
}

/** The library says nothing to the caller when a stream breaks off: the call would wait until its time is over. */
function reportingFailure(response: Response, report: (error: unknown) => void): Response {
  if (response.body === null) return response
  const { status, statusText, headers } = response
  return new Response(ReadableStream.from(chunksOf(response.body)), { status, statusText, headers })

  async function* chunksOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body
    } catch (error) {
      report(error)
      throw error
    }
  }
}

/** Ends the session without waiting long: a server may not support the request, or not answer. */
async function endSession(transport: StreamableHTTPClientTransport, client: Client): Promise<void> {
  const goodbye = transport.terminateSession().catch(() => undefined)
  await within(1000, goodbye)
  await client.close().catch(() => undefined)
}

/** Whether this failure of a server's client says that the server does not accept what it was sent as `Authorization`. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof StreamableHTTPError && error.cause.code === 401
}

function reasonOf(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof AppError) return at.message
    if (at instanceof JsonLimitError) return `the answer of the MCP server ${at.message}`
  }
  if (error instanceof McpError) return error.message
  if (error instanceof StreamableHTTPError && error.code !== undefined && error.code > 0) {
    const answered = `the MCP server answered with status ${error.code}`
    if (error.code === 401) return `${answered}: it asks for a login or another key`
    // What a server of the transport before streamable HTTP says to a POST at its address (MCP 2025-11-25, Transports).
    return error.code === 405 || error.code === 404
      ? `${answered}: its address may be wrong, or one for the older transport (HTTP with SSE), which is not supported`
      : answered
  }
  return 'the MCP server could not be reached'
}

/** Stands before the digits of a number in the string that replaces it: a character for private use. */
const mark = '\uE000'
/** Lines of a stream beside its data are not JSON: an event's id is sent back as it is. */
const besideJson = String.raw`^(?:id|event|retry):.*$`
/** Up to its line end, if it has no other end: were that no match, each quote in it would be looked at as a beginning. */
const string = String.raw`"(?:[^"\\\n]|\\.?)*"?`
const stringOrNumber = new RegExp(String.raw`${besideJson}|${string}|-?\d[\d.eE+-]*`, 'gm')
const marked = new RegExp(`"${mark}(-?\\d[\\d.eE+-]*)"`, 'g')

/**
 * A library parses the answers of MCP servers, and a number above 2^53 would lose its digits there. So such numbers
 * become strings before the library sees them; `withExactNumbers` turns them back. Works line by line, because a
 * string of JSON holds no line break, both on JSON and on the events of a stream.
 */
export function keepingDigits(response: Response): Response {
  if (response.body === null) return response
  const { status, statusText, headers } = response
  const lines = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(markedLines())
  return new Response(lines.pipeThrough(new TextEncoderStream()), { status, statusText, headers })
}

/** What JSON.stringify writes of the value has each number as the server wrote it. */
function withExactNumbers<T extends object>(value: T): T
function withExactNumbers(value: object): unknown {
  const text = JSON.stringify(value)
  return text.includes(mark) ? parseExactJson(text.replaceAll(marked, '$1')) : value
}

function markedLines(): TransformStream<string, string> {
  let rest = ''
  return new TransformStream({
    transform(text, controller) {
      const end = text.lastIndexOf('\n') + 1
      if (end === 0) {
        rest += text
        return
      }
      controller.enqueue(markNumbers(rest + text.slice(0, end)))
      rest = text.slice(end)
    },
    flush: (controller) => controller.enqueue(markNumbers(rest)),
  })
}

function markNumbers(text: string): string {
  if (!/\d{15}/.test(text)) return text
  return text.replaceAll(stringOrNumber, (part) => (!/^[-\d]/.test(part) || isExact(part) ? part : `"${mark}${part}"`))
}

/** Whether a double has the same value; of a decimal fraction, the same digits. */
function isExact(number: string): boolean {
  if (/^-?\d+$/.test(number)) return Number.isSafeInteger(Number(number))
  const digits = number.replace(/[eE].*$/, '').replaceAll(/\D/g, '')
  return digits.replace(/^0+/, '').replace(/0+$/, '').length <= 15
}
