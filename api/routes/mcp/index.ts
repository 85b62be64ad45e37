import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { McpHost } from '../../../services/mcp/hosts.ts'
import { createPublicCors } from '../../plugins/cors.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'
import { hostFor } from './caller.ts'
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
