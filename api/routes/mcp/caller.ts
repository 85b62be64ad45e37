import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../domain/errors.ts'
import type { McpHost, McpHosts } from '../../../services/mcp/hosts.ts'
import type { PublicFamily } from '../../../services/public/index.ts'
import type { Sessions } from '../../../services/auth/sessions.ts'
import { callerOf, requireRoleOf } from '../../plugins/authentication.ts'
import { bearerOf } from '../../plugins/bearer-token.ts'
import type { PublicCors } from '../../plugins/cors.ts'
import { tokensOf } from '../public/caller.ts'

export interface CallerDeps {
  sessions: Pick<Sessions, 'open'>
  publicFamily: Pick<PublicFamily, 'access' | 'origins'>
  mcpHosts: McpHosts
  cors: PublicCors
  /** Where a client reads how to authorise itself (RFC 9728). */
  metadataUrl: (assistantId: string) => string
}

/**
 * The assistant for whoever calls: its owner by a service token, others by its access mode. A page of an origin that
 * the assistant does not list is refused, so that a page cannot use what runs on its reader's machine (MCP, streamable
 * HTTP, security warning).
 */
export async function hostFor(
  { sessions, publicFamily, mcpHosts, cors, metadataUrl }: CallerDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  assistantId: string,
): Promise<McpHost> {
  const find = async () => {
    const host = await identified()
    const { origin } = request.headers
    if (origin !== undefined && !publicFamily.origins.admits(host.assistant, origin))
      throw new AppError('forbidden', 'This assistant may not be called from this origin.')
    return host
  }

  async function identified(): Promise<McpHost> {
    const token = bearerOf(request)
    if (token !== undefined && isServiceToken(token)) {
      request.session = await sessions.open(token, { withProject: true })
      requireRoleOf(request)
      return mcpHosts.ofOwner(callerOf(request), assistantId)
    }
    request.publicAssistant = await publicFamily.access.byId(assistantId, tokensOf(request))
    return mcpHosts.ofPublic(request.publicAssistant)
  }

  let found: McpHost | undefined
  try {
    await cors.admit(request, reply, async () => {
      found = await find()
      return found.assistant
    })
  } catch (error) {
    const isUnknown =
      error instanceof AppError &&
      (error.code === 'unauthenticated' || (error.code === 'forbidden' && !tokensOf(request).length))
    if (!isUnknown) throw error
    const challenge = `Bearer resource_metadata="${metadataUrl(assistantId)}"`
    throw new AppError('unauthenticated', 'A service token, or the public token of the assistant, is required.', {
      headers: { 'www-authenticate': challenge },
      cause: error,
    })
  }
  if (found === undefined) throw new AppError('internal', 'the caller was not identified')
  return found
}

/** Service tokens are JWTs; a public token that looks like one is sent as `X-Public-Bot-Token`. */
function isServiceToken(token: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(token)
}
