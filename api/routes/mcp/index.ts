import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AppError } from '../../../domain/errors.ts'
import type { Sessions } from '../../../services/auth/sessions.ts'
import type { McpHost, McpHosts } from '../../../services/mcp/hosts.ts'
import type { PublicFamily } from '../../../services/public/index.ts'
import { callerOf, requireRoleOf } from '../../plugins/authentication.ts'
import { bearerOf } from '../../plugins/bearer-token.ts'
import { type PublicCors, createPublicCors } from '../../plugins/cors.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'
import { tokensOf } from '../public/caller.ts'
import { McpParams, tags } from './mcp-route.ts'
import { mcpMessageRoutes } from './message-routes.ts'
import { mcpResumeRoutes } from './resume-routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The assistant of an MCP request, as its caller may use it. */
    mcpHost: McpHost | null
  }
}

type Deps = Pick<Services, 'sessions' | 'publicFamily' | 'mcpHosts' | 'mcpSessions' | 'idempotency'> & {
  openStreams: OpenStreams
  baseUrl: string
}

/**
 * `/mcp/{aid}`: an assistant as an MCP server (streamable HTTP). It stores no sessions: an event id names the run whose
 * answer it is about, so that any process can go on with it.
 */
export const mcpRoutes: FastifyPluginAsync<Deps> = async (app, deps) => {
  const { baseUrl } = deps
  const cors = createPublicCors(deps.publicFamily.origins)
  const metadataUrl = (assistantId: string) => new URL(metadataPath(assistantId), baseUrl).toString()
  if (!app.hasRequestDecorator('publicAssistant')) app.decorateRequest('publicAssistant', null)
  app.decorateRequest('mcpHost', null)

  await app.register(async (mcp) => {
    mcp.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
      if (request.is404 || request.method === 'OPTIONS') return
      const { aid } = request.params as { aid: string }
      request.mcpHost = await hostFor({ ...deps, cors, metadataUrl }, request, reply, aid)
    })
    await mcp.register(mcpMessageRoutes, deps)
    await mcp.register(mcpResumeRoutes, deps)
    mcp.route({
      method: 'OPTIONS',
      url: '/mcp/:aid',
      config: { auth: 'public', cors: false, limits: ['public_client'] },
      schema: { hide: true },
      handler: (request, reply) => cors.preflight(request, reply),
    })
  })
  await app.register(mcpMetadataRoutes, { baseUrl })
}

const prefix = '/.well-known/oauth-protected-resource/mcp'

const metadataPath = (assistantId: string) => `${prefix}/${encodeURIComponent(assistantId)}`

const McpMetadata = Type.Object(
  {
    resource: Type.String(),
    bearer_methods_supported: Type.Array(Type.Literal('header')),
    resource_documentation: Type.String(),
  },
  { title: 'McpMetadata', about: 'How clients authorise themselves.' },
)

/** Where clients look after a 401 (RFC 9728). No authorization server is named: tokens are made in the console. */
const mcpMetadataRoutes: FastifyPluginAsyncTypebox<{ baseUrl: string }> = async (app, { baseUrl }) => {
  app.get(
    `${prefix}/:aid`,
    {
      config: { auth: 'none' },
      schema: {
        operationId: 'mcp.metadata',
        summary: 'How clients of /mcp/{aid} authorise themselves (RFC 9728)',
        tags,
        params: McpParams,
        response: { 200: McpMetadata },
      },
    },
    async ({ params: { aid } }) => ({
      resource: new URL(`/mcp/${encodeURIComponent(aid)}`, baseUrl).toString(),
      bearer_methods_supported: ['header' as const],
      resource_documentation: new URL('/docs', baseUrl).toString(),
    }),
  )
}

interface CallerDeps {
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
async function hostFor(
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
