import { randomUUID } from 'node:crypto'
import {
  DemoInMemoryAuthProvider,
  DemoInMemoryClientsStore,
} from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
import { InvalidGrantError, InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import {
  createOAuthMetadata,
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
  mcpAuthRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js'
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { startHttpServer } from './http-server.ts'

/**
 * A real MCP server and its authorization server, each at its own address: the reference implementation with its example
 * of a provider, which asks nobody. Beyond the example, tokens live as long as `seen.lifetimeSeconds` says, and are
 * renewed; a refresh token is taken once; `revoke` ends all access tokens before their time. `clients`: no others are known,
 * and none can register itself.
 */
export async function startOAuthMcpServer({ register, clients }: OAuthMcpServer) {
  const seen = { renewals: 0, lifetimeSeconds: 3600, canRenew: true, tokens: [] as string[] }
  const auth = await startHttpServer((request, response) => authApp(request, response))
  const mcp = await startHttpServer((request, response) => mcpApp(request, response))
  const url = `${mcp.url}/mcp`
  const provider = new RenewingProvider(seen)
  if (clients !== undefined) provider.clientsStore = knownClients(clients)
  const issuerUrl = new URL(auth.url)

  const authApp = createMcpExpressApp()
  authApp.use(mcpAuthRouter({ provider, issuerUrl, scopesSupported: ['mcp:tools'] }))
  const mcpApp = createMcpExpressApp()
  mcpApp.use(
    mcpAuthMetadataRouter({
      oauthMetadata: createOAuthMetadata({ provider, issuerUrl, scopesSupported: ['mcp:tools'] }),
      resourceServerUrl: new URL(url),
      scopesSupported: ['mcp:tools'],
    }),
  )
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(url))
  mcpApp.use('/mcp', requireBearerAuth({ verifier: provider, resourceMetadataUrl }))
  mcpApp.post('/mcp', async (request: any, response: any) => {
    const server = new McpServer({ name: 'test', version: '1.0.0' })
    register(server)
    // No session: each request has a server of its own.
    const transport = new StreamableHTTPServerTransport({})
    await server.connect(transport)
    await transport.handleRequest(request, response, request.body)
  })

  return {
    url,
    issuer: issuerUrl.href,
    seen,
    revoke: () => provider.revokeAll(),
    close: async () => {
      await mcp.close()
      await auth.close()
    },
  }
}

interface OAuthMcpServer {
  register: (server: McpServer) => void
  clients?: OAuthClientInformationFull[]
}

function knownClients(clients: OAuthClientInformationFull[]): RenewingProvider['clientsStore'] {
  // The router offers registration where there is such a function.
  return Object.assign(new DemoInMemoryClientsStore(), {
    registerClient: undefined,
    getClient: async (id: string) => clients.find(({ client_id: known }) => known === id),
  })
}

class RenewingProvider extends DemoInMemoryAuthProvider {
  readonly #seen: { renewals: number; lifetimeSeconds: number; canRenew: boolean; tokens: string[] }
  readonly #refreshTokens = new Set<string>()
  readonly #revoked = new Set<string>()
  readonly #accessTokens = new Map<string, AuthInfo>()

  constructor(seen: RenewingProvider['seen']) {
    super()
    this.#seen = seen
  }

  get seen() {
    return this.#seen
  }

  override async exchangeAuthorizationCode(
    client: OAuthClientInformationFull,
    code: string,
    verifier?: string,
  ): Promise<OAuthTokens> {
    await super.exchangeAuthorizationCode(client, code, verifier)
    return this.#issue(client)
  }

  override async exchangeRefreshToken(client: OAuthClientInformationFull, token: string): Promise<OAuthTokens> {
    if (!this.#seen.canRenew || !this.#refreshTokens.delete(token)) throw new InvalidGrantError('not known any more')
    this.#seen.renewals++
    return this.#issue(client)
  }

  override async verifyAccessToken(token: string): Promise<AuthInfo> {
    if (this.#revoked.has(token)) throw new InvalidTokenError('revoked')
    return this.#accessTokens.get(token) ?? super.verifyAccessToken(token)
  }

  revokeAll(): void {
    for (const token of this.#accessTokens.keys()) this.#revoked.add(token)
  }

  #issue({ client_id: clientId }: OAuthClientInformationFull): OAuthTokens {
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`]
    const { lifetimeSeconds } = this.#seen
    this.#refreshTokens.add(refresh)
    this.#accessTokens.set(access, {
      token: access,
      clientId,
      scopes: ['mcp:tools'],
      expiresAt: Math.floor(Date.now() / 1000) + lifetimeSeconds,
    })
    this.#seen.tokens.push(access, refresh)
    return { access_token: access, token_type: 'bearer', expires_in: lifetimeSeconds, refresh_token: refresh }
  }
}
