import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import type { McpHost } from '../../../services/mcp/hosts.ts'
import { PathId } from '../schemas.ts'

export const tags = ['mcp']
export const McpParams = Type.Object({ aid: PathId })
export const sessionHeader = 'mcp-session-id'
export const versionHeader = 'mcp-protocol-version'

/** Its origins are those of the assistant. */
export const mcpConfig = { auth: 'public', cors: false, staysOpen: true } as const

export const McpHeaders = Type.Object({
  'x-public-bot-token': Type.Optional(
    Type.String({ maxLength: 1000, description: "The assistant's public token, if it is not the bearer token." }),
  ),
  [sessionHeader]: Type.Optional(
    Type.String({ maxLength: 200, description: 'From the answer to `initialize`. Cancelling needs it.' }),
  ),
  [versionHeader]: Type.Optional(Type.String({ maxLength: 50, description: 'The version that was agreed on.' })),
})

export const mcpEvents = {
  description: 'Server-sent events, each with a message of JSON-RPC.',
  content: { 'text/event-stream': { schema: Type.String() } },
}

export function hostOf({ mcpHost }: FastifyRequest): McpHost {
  if (mcpHost === null) throw new AppError('internal', 'the caller was not identified')
  return mcpHost
}

/** Throws `bad_request` if the client does not take one of these types (MCP, streamable HTTP). */
export function requireAccepted({ headers: { accept = '' } }: FastifyRequest, types: string[]): void {
  const missing = accept.includes('*/*') ? [] : types.filter((type) => !accept.includes(type))
  if (missing.length > 0) throw new AppError('bad_request', `The header Accept must list ${missing.join(' and ')}.`)
}

/** Versions before this one cannot read events without data. */
const firstWithPriming = '2025-11-25'

export function takesPriming({ headers }: FastifyRequest): boolean {
  const version = headers[versionHeader]
  return typeof version === 'string' && version >= firstWithPriming
}
