import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { McpParams, tags } from './mcp-route.ts'

const prefix = '/.well-known/oauth-protected-resource/mcp'

export const metadataPath = (assistantId: string) => `${prefix}/${encodeURIComponent(assistantId)}`

const McpMetadata = Type.Object(
  {
    resource: Type.String(),
    bearer_methods_supported: Type.Array(Type.Literal('header')),
    resource_documentation: Type.String(),
  },
  { title: 'McpMetadata' },
)

/** Where clients look after a 401 (RFC 9728). No authorization server is named: tokens are made in the console. */
export const mcpMetadataRoutes: FastifyPluginAsyncTypebox<{ baseUrl: string }> = async (app, { baseUrl }) => {
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
