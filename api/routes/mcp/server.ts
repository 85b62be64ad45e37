import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { AppError, isNotFound } from '../../../domain/errors.ts'
import type { McpHost } from '../../../services/mcp/hosts.ts'
import { AskArguments, SearchArguments, defaultPassages, toolsOf } from './tools.ts'

const version = '1.0.0'
const searchMs = 30_000
/** The protocol's codes for a request that cannot be answered. */
const invalidParams = -32602
const notFound = -32002
const filesOfPage = 100

export interface ServerOptions {
  host: McpHost
  /** What the assistant says of itself. */
  about: string
  /** The answer to a call of `ask`, whose run was started. */
  ask: () => Promise<CallToolResult>
}

/** An MCP server with the tools and files of one assistant, for one request. The SDK is loaded with the first. */
export async function createMcpServer({ host, about, ask }: ServerOptions): Promise<Server> {
  const [{ Server: McpServer }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/index.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ])
  const { assistant, files } = host
  const refuse = (code: number, message: string) => new types.McpError(code, message)
  const server = new McpServer(
    { name: assistant._id, title: assistant.name, version },
    {
      capabilities: { tools: {}, ...(files === undefined ? {} : { resources: {} }) },
      ...(about === '' ? {} : { instructions: about }),
    },
  )

  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: toolsOf(assistant, about) }))
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: args = {} } = params
    if (name === 'ask') {
      if (!Value.Check(AskArguments, args)) throw refuse(invalidParams, problemOf(AskArguments, args))
      return asResult(ask())
    }
    if (name !== 'search') throw refuse(invalidParams, 'There is no such tool: ask and search are offered.')
    if (!Value.Check(SearchArguments, args)) throw refuse(invalidParams, problemOf(SearchArguments, args))
    return asResult(search(host, args, signal))
  })

  if (files !== undefined) {
    server.setRequestHandler(types.ListResourcesRequestSchema, async ({ params }) => {
      const offset = cursorOf(params?.cursor)
      if (offset === undefined) throw refuse(invalidParams, 'cursor: is none of this server')
      const { entries, hasMore } = await files.list({ limit: filesOfPage, offset })
      return {
        resources: entries
          .filter(({ status }) => status === 'ready')
          .map((file) => ({
            uri: uriOf(file._id),
            name: file.name,
            title: file.name,
            mimeType: 'text/plain',
            description: `The text of a file (${file.content_type}).`,
          })),
        ...(hasMore ? { nextCursor: String(offset + entries.length) } : {}),
      }
    })
    server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [] }))
    server.setRequestHandler(types.ReadResourceRequestSchema, async ({ params: { uri } }) => {
      const place = passageOf(uri)
      if (place === undefined) throw refuse(notFound, 'There is no such resource.')
      const { text, next } = await files.text(place.fileId, place.from).catch((error: unknown) => {
        throw isNotFound(error) ? refuse(notFound, 'There is no such resource.') : error
      })
      const more = next === undefined ? '' : `\n\n[The text goes on at ${uriOf(place.fileId, next)}]`
      return { contents: [{ uri, mimeType: 'text/plain', text: `${text}${more}` }] }
    })
  }
  return server
}

async function search(
  host: McpHost,
  { query, limit = defaultPassages }: { query: string; limit?: number },
  signal: AbortSignal,
): Promise<CallToolResult> {
  const found = await host.search(query, limit, AbortSignal.any([signal, AbortSignal.timeout(searchMs)]))
  const passages = found.map(({ file_id, file_name, url, page, heading, text, score }) => ({
    file_id,
    file_name,
    ...(url === undefined ? {} : { url }),
    ...(page === undefined ? {} : { page }),
    ...(heading === undefined ? {} : { heading }),
    text,
    score,
  }))
  return { content: [{ type: 'text', text: JSON.stringify({ passages }) }], structuredContent: { passages } }
}

/** What the caller can do something about is a result that says so; other errors are not described. */
async function asResult(working: Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await working
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal' || error.code === 'cancelled') throw error
    return { content: [{ type: 'text', text: error.message }], isError: true }
  }
}

function problemOf(schema: TSchema, args: unknown): string {
  const [first] = Value.Errors(schema, args)
  const path = first?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  return path === '' ? `arguments: ${first?.message ?? 'are not right'}` : `${path}: ${first?.message ?? ''}`
}

const uriPrefix = 'assistant-file:'

function uriOf(fileId: string, from = 0): string {
  return `${uriPrefix}${fileId}${from === 0 ? '' : `?from=${from}`}`
}

function passageOf(uri: string): { fileId: string; from: number } | undefined {
  const match = /^assistant-file:([\w-]{1,100})(?:\?from=(\d{1,9}))?$/.exec(uri)
  return match?.[1] === undefined ? undefined : { fileId: match[1], from: Number(match[2] ?? 0) }
}

function cursorOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return 0
  return /^\d{1,9}$/.test(cursor) ? Number(cursor) : undefined
}
