import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import type { McpHost } from '../../../services/mcp/hosts.ts'
import type { McpSessions } from '../../../services/mcp/sessions.ts'
import { PathId } from '../schemas.ts'

export const tags = ['mcp']
export const McpParams = Type.Object({ aid: PathId })
export const sessionHeader = 'mcp-session-id'
const versionHeader = 'mcp-protocol-version'

/** Its origins are those of the assistant. */
export const mcpConfig = { auth: 'public', cors: false, staysOpen: true } as const

export const McpHeaders = Type.Object({
  'x-public-bot-token': Type.Optional(
    Type.String({ maxLength: 1000, description: "The assistant's public token, if it is not the bearer token." }),
  ),
  [sessionHeader]: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'From the answer to `initialize`; another one is 404. Cancelling needs it.',
    }),
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

/** Throws `not_acceptable` if the client does not take one of these types (MCP, streamable HTTP). */
export function requireAccepted({ headers: { accept = '*/*' } }: FastifyRequest, types: string[]): void {
  const taken = accept
    .toLowerCase()
    .split(',')
    .map((each) => each.split(';'))
    .filter(([, ...members]) => !members.some((member) => /^\s*q=0(\.0*)?\s*$/.test(member)))
    .map(([name = '']) => name.trim())
  const takes = (type: string) => ['*/*', type, `${type.split('/')[0]}/*`].some((each) => taken.includes(each))
  const missing = types.filter((type) => !takes(type))
  if (missing.length > 0) throw new AppError('not_acceptable', `The header Accept must list ${missing.join(' and ')}.`)
}

/** Throws `not_found` for a session that was never begun with this assistant. A request may name none. */
export function requireSession(request: FastifyRequest, sessions: McpSessions): void {
  const id = request.headers[sessionHeader]
  if (typeof id === 'string' && !sessions.isKnown(hostOf(request).assistant._id, id))
    throw new AppError('not_found', 'There is no such session: begin one with initialize.')
}

/** Versions before this one cannot read events without data. */
const firstWithPriming = '2025-11-25'

export function takesPriming({ headers }: FastifyRequest): boolean {
  const version = headers[versionHeader]
  return typeof version === 'string' && version >= firstWithPriming
}
