import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { McpLoginRecord } from '../../../domain/records/assistant.ts'
import { callerOf, ownerOf } from '../../plugins/authentication.ts'
import { PathId, Timestamp, refusals } from '../schemas.ts'

const params = Type.Object({ aid: PathId })
const config = { auth: 'project' } as const
const tags = ['assistants']
const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'The address of the MCP server, as in the settings of the tool.',
})

const McpLogin = Type.Object(
  {
    id: Type.String(),
    url: Type.String(),
    connected_at: Timestamp,
    is_over: Type.Boolean({
      description: 'The server does not renew it any more, or who made it has left: connect again.',
    }),
  },
  { title: 'McpLogin', about: 'A login of an assistant at an MCP server.' },
)
const McpLoginRequest = Type.Object(
  {
    url: Url,
    client_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          'Of a program that you have registered at the login server, with the address `/console/connected` of the console; for servers at which programs cannot register themselves.',
      }),
    ),
    client_secret: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, writeOnly: true, description: 'Its secret, if it has one.' }),
    ),
  },
  { title: 'McpLoginRequest', about: 'At which MCP server to log in.' },
)
const McpLoginBegun = Type.Object(
  {
    redirect_to: Type.String({ description: 'Where the browser goes.' }),
    state: Type.String({ description: 'Comes back in the address.' }),
    attempt: Type.String({ description: 'Sealed; the browser keeps it until it is back, ten minutes at most.' }),
  },
  { title: 'McpLoginBegun', about: 'A login that has begun in the browser.' },
)
/** Servers choose how long their codes are. */
const McpLoginCallback = Type.Object(
  {
    attempt: Type.String({ maxLength: 100_000 }),
    code: Type.String({ minLength: 1, maxLength: 4096 }),
    state: Type.String({ minLength: 1, maxLength: 256 }),
    iss: Type.Optional(Type.String({ maxLength: 2048, description: 'As it came back (RFC 9207).' })),
  },
  { title: 'McpLoginCallback', about: 'What the browser brought back from the login server.' },
)

/** `/assistants/{aid}/mcp-logins`: logins at MCP servers by OAuth in the browser. */
export const mcpLoginRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'mcpLogins'>> = async (app, { mcpLogins }) => {
  const path = '/assistants/:aid/mcp-logins'
  const beginner = (request: FastifyRequest) => ({ owner: ownerOf(request), user: callerOf(request).userId })

  app.get(
    path,
    {
      config,
      schema: {
        operationId: 'assistants.mcpLogins.list',
        summary: 'List the MCP servers at which the assistant is logged in',
        tags,
        params,
        response: { 200: Type.Object({ logins: Type.Array(McpLogin) }), ...refusals(401, 403, 404) },
      },
    },
    async (request) => ({ logins: (await mcpLogins.list(ownerOf(request), request.params.aid)).map(show) }),
  )

  app.post(
    path,
    {
      config,
      schema: {
        operationId: 'assistants.mcpLogins.begin',
        summary: 'Begin a login at an MCP server in the browser',
        description:
          'Finds its authorization server (RFC 9728, RFC 8414) and registers this service there (RFC 7591), if no `client_id` is given. After consent, the browser comes to `/console/connected`.',
        tags,
        params,
        body: McpLoginRequest,
        response: { 200: McpLoginBegun, ...refusals(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { url, client_id: id, client_secret: secret } = request.body
      const client = id === undefined ? undefined : { client_id: id, ...(secret && { client_secret: secret }) }
      const { redirectTo, ...begun } = await mcpLogins.begin(beginner(request), request.params.aid, { url, client })
      return { redirect_to: redirectTo, ...begun }
    },
  )

  app.put(
    path,
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'assistants.mcpLogins.finish',
        summary: 'Finish a login at an MCP server with what the browser brought back',
        tags,
        params,
        body: McpLoginCallback,
        response: { 200: McpLogin, ...refusals(400, 401, 403, 404) },
      },
    },
    async (request) => show(await mcpLogins.finish(beginner(request), request.params.aid, request.body)),
  )

  app.delete(
    `${path}/:mcp_login_id`,
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'assistants.mcpLogins.delete',
        summary: 'Forget the login at an MCP server',
        tags,
        params: Type.Object({ aid: PathId, mcp_login_id: PathId }),
        response: { 200: Type.Object({ deleted: Type.Boolean() }), ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      await mcpLogins.remove(ownerOf(request), request.params.aid, request.params.mcp_login_id)
      return { deleted: true }
    },
  )
}

function show({ id, url, sealed, connected_at }: McpLoginRecord): Static<typeof McpLogin> {
  return { id, url, connected_at: connected_at.toISOString(), is_over: sealed === undefined }
}
