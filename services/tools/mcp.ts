import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { CallToolResult, Tool as RemoteTool } from '@modelcontextprotocol/sdk/types.js'
import { LRUCache } from 'lru-cache'
import Type, { type Static } from 'typebox'
import { AnyKey } from '../../domain/any-key.ts'
import { toolName } from '../../domain/client-tools.ts'
import { parseForeignJson } from '../../domain/foreign-json.ts'
import { foreignSchemaBytes } from '../../domain/foreign-schema.ts'
import { parseOwnJson } from '../../domain/json.ts'
import type { Outbound } from '../outbound.ts'
import { limitText, secretsHider } from '../tool-text.ts'
import type { ResultFile, Tool } from '../tool.ts'
import type { McpServer } from './mcp-client.ts'

export const McpConfig = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 40, title: 'Name', description: 'Prefix of the names of its tools.' }),
  url: Type.String({
    minLength: 1,
    title: 'Address',
    description: 'The address of the Model Context Protocol server (streamable HTTP).',
  }),
  headers: Type.Optional(
    Type.Record(AnyKey, Type.String(), {
      // Each is looked for in all that the server answers.
      maxProperties: 50,
      title: 'Headers',
      writeOnly: true,
      description: 'Headers of every request, such as keys. The model does not see them.',
    }),
  ),
  allowed_tools: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1000,
      title: 'Tools',
      description: 'The tools that are offered, by their names; default: all.',
    }),
  ),
})
export type McpConfig = Static<typeof McpConfig>

export const mcpDescription = 'The tools of a Model Context Protocol server, each named {name}_{tool}.'

const listTimeoutMs = 10_000
const callTimeoutMs = 60_000
const freshMs = 60_000
const maxServers = 500
/** Limit for all schemas of one server together, because they are sent to the model in every step. */
const maxListBytes = 512 * 1024
const maxNameLength = 200

/** Another `Authorization` for one that the server has refused. Throws, without secrets, if there is none. */
export type Relogin = (refused: string, signal: AbortSignal) => Promise<string | undefined>

/** Loaded when first used: the library consists of a hundred modules that most processes never need. */
const client = () => import('./mcp-client.ts')

export type McpTools = ReturnType<typeof createMcpTools>

/**
 * The tools of MCP servers. A server's list is cached for a minute, because it is needed in every step of a run. If
 * the server then does not answer, the last list is used, so that a short failure does not remove a tool in the
 * middle of a run. `now` is for tests.
 */
export function createMcpTools(outbound: Pick<Outbound, 'fetch'>, now: () => number = Date.now) {
  const known = new LRUCache<string, { at: number; list: RemoteTools }>({ max: maxServers })

  async function listOf(server: McpServer, signal: AbortSignal): Promise<RemoteTools> {
    const key = createHash('sha256').update(JSON.stringify(server)).digest('base64')
    const entry = known.get(key)
    if (entry !== undefined && now() - entry.at < freshMs) return entry.list
    try {
      const { listRemoteTools } = await client()
      const limit = AbortSignal.any([signal, AbortSignal.timeout(listTimeoutMs)])
      const list = withinLimits(await listRemoteTools(server, outbound, limit))
      known.set(key, { at: now(), list })
      return list
    } catch (error) {
      signal.throwIfAborted()
      if (entry === undefined) throw error
      return entry.list
    }
  }

  /** What a server offers. Throws if it cannot be asked; the message contains no keys or addresses. */
  async function offeredBy(config: McpConfig, signal: AbortSignal, relogin?: Relogin): Promise<RemoteTools> {
    if (!URL.canParse(config.url)) throw new Error('the URL of the MCP server is not valid')
    const { result: remote } = await withLogin(serverOf(config), (server) => listOf(server, signal), signal, relogin)
    const allowed = config.allowed_tools
    return { ...remote, tools: remote.tools.filter(({ name }) => allowed === undefined || allowed.includes(name)) }
  }

  return {
    /** As the server describes them. */
    offeredBy,

    /** `relogin` is asked, once, where the server refuses the login. */
    async list(
      config: McpConfig,
      signal: AbortSignal,
      relogin?: Relogin,
    ): Promise<{ tools: Tool[]; warning: string | undefined }> {
      const remote = await offeredBy(config, signal, relogin)
      const tools = remote.tools.map((tool) => asTool(config.name, tool, serverOf(config), relogin))
      return { tools, warning: warningOf(remote) }
    },
  }

  function asTool(
    prefix: string,
    remote: RemoteTools['tools'][number],
    server: McpServer,
    relogin: Relogin | undefined,
  ): Tool {
    const { readOnlyHint, idempotentHint } = remote.annotations ?? {}
    return {
      type: 'mcp',
      name: toolName(`${prefix}_${remote.name}`),
      description: remote.description ?? remote.name,
      parameters: remote.inputSchema,
      isForeign: true,
      safeToRepeat: readOnlyHint === true || idempotentHint === true,
      timeoutMs: callTimeoutMs,
      async execute(args, { signal, exactArgs = args }) {
        const call = { name: remote.name, arguments: exactArgs }
        const { callRemoteTool } = await client()
        const { result, hideSecrets } = await withLogin(
          server,
          (known) => callRemoteTool(known, outbound, call, { signal, timeoutMs: callTimeoutMs }),
          signal,
          relogin,
        )
        const text = limitText(hideSecrets(textOf(result)))
        if (result.isError === true) throw new Error(text)
        const files = filesOf(result)
        return files.length === 0 ? text : { content: text, files }
      },
    }
  }
}

const serverOf = ({ url, headers = {} }: McpConfig): McpServer => ({ url, headers })

/**
 * Works with a server; once more where it refuses the login, because a login can end before its time. What it refuses, it
 * has not done. The messages of failures contain no secrets.
 */
async function withLogin<T>(
  server: McpServer,
  work: (server: McpServer) => Promise<T>,
  signal: AbortSignal,
  relogin?: Relogin,
): Promise<{ result: T; hideSecrets: (text: string) => string }> {
  const { authorization: refused } = server.headers
  const hideSecrets = secretsHider(server.headers)
  try {
    return { result: await work(server), hideSecrets }
  } catch (error) {
    signal.throwIfAborted()
    const { isUnauthorized } = await client()
    const authorization =
      relogin !== undefined && refused !== undefined && isUnauthorized(error)
        ? await relogin(refused, signal)
        : undefined
    if (authorization === undefined)
      throw new Error(hideSecrets(error instanceof Error ? error.message : 'the MCP server failed'))
    return withLogin({ ...server, headers: { ...server.headers, authorization } }, work, signal)
  }
}

/** The cached list of a server: the usable tools, and how many were left out. */
interface RemoteTools {
  tools: Pick<RemoteTool, 'name' | 'title' | 'description' | 'inputSchema' | 'annotations'>[]
  leftOut: number
}

function withinLimits(list: RemoteTool[]): RemoteTools {
  let left = maxListBytes
  const tools = list.flatMap(({ name, title, description = '', inputSchema, annotations }) => {
    const bytes = name.length > maxNameLength ? undefined : foreignSchemaBytes(inputSchema)
    if (bytes === undefined || bytes > left) return []
    left -= bytes
    const { readOnlyHint, idempotentHint } = annotations ?? {}
    return [
      {
        name,
        inputSchema,
        description: limitText(description || title || name, 2000),
        annotations: { readOnlyHint, idempotentHint },
      },
    ]
  })
  return { tools, leftOut: list.length - tools.length }
}

function warningOf({ leftOut }: RemoteTools): string | undefined {
  return leftOut === 0 ? undefined : `${leftOut} tools of the server are left out: their schemas are too large.`
}

/** A result as text; other content is described, so that the model knows of it. */
function textOf({ content, structuredContent }: CallToolResult): string {
  const parts = content.map((part) => {
    switch (part.type) {
      case 'text':
        return part.text
      case 'resource':
        return 'text' in part.resource
          ? part.resource.text
          : `[${part.resource.mimeType ?? 'a binary resource'}: ${part.resource.uri}]`
      case 'resource_link':
        return [`${part.title ?? part.name}: ${part.uri}`, part.description ?? ''].filter(Boolean).join('\n')
      case 'image':
      case 'audio':
        return `[${part.mimeType}]`
    }
  })
  const text = parts.join('\n\n')
  if (structuredContent === undefined) return text === '' ? 'The result of the tool is empty.' : text
  // Servers repeat it as text for older clients; others sum it up in words, and say more here.
  const isRepeated = content.some((part) => part.type === 'text' && isSameJson(part.text, structuredContent))
  return [text, isRepeated ? '' : JSON.stringify(structuredContent)].filter((part) => part !== '').join('\n\n')
}

/** The pictures, sounds and files of a result. What they are is read from their bytes, later. */
function filesOf({ content }: CallToolResult): ResultFile[] {
  return content.flatMap((part) => {
    if (part.type === 'image' || part.type === 'audio') return { name: '', bytes: Buffer.from(part.data, 'base64') }
    if (part.type !== 'resource' || !('blob' in part.resource)) return []
    const name = part.resource.uri.split('/').at(-1)?.slice(0, 200) ?? ''
    return { name, bytes: Buffer.from(part.resource.blob, 'base64') }
  })
}

function isSameJson(text: string, value: object): boolean {
  try {
    return isDeepStrictEqual(parseForeignJson(text, { bytes: Infinity }), parseOwnJson(JSON.stringify(value)))
  } catch {
    return false
  }
}
