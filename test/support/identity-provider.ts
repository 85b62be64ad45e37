import type { IncomingMessage, ServerResponse } from 'node:http'
import Provider from 'oidc-provider'
import { startHttpServer } from './http-server.ts'

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>

/** What the provider says of a person; the login name is the subject. */
export interface Person {
  email?: string
  email_verified?: boolean
  given_name?: string
  family_name?: string
}

/** A real OpenID Connect provider on loopback, with its own pages for login and consent. Any password will do. */
export async function startIdentityProvider({ redirectUri }: { redirectUri: string }) {
  const people = new Map<string, Person>()
  const client = { id: 'assistant-platform', secret: 'the secret of the client' }
  // The provider must know its address before it is made, so the server is there first.
  const ready: { handle?: (request: IncomingMessage, response: ServerResponse) => Promise<void> } = {}
  const server = await startHttpServer(async (request, response) => ready.handle?.(request, response))
  const provider = new Provider(server.url, {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [redirectUri] }],
    claims: { email: ['email', 'email_verified'], profile: ['given_name', 'family_name'] },
    cookies: { keys: ['the key of the cookies'] },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    pkce: { required: () => true },
    findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id, ...people.get(id) }) }),
  })
  ready.handle = provider.callback()
  return { issuer: server.url, client, people, close: server.close }
}
