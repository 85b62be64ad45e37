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
  groups?: string[]
}

/** A real OpenID Connect provider on loopback, with its own pages for login and consent. Any password will do. */
export async function startIdentityProvider({ redirectUri, logoutUri }: { redirectUri: string; logoutUri?: string }) {
  const people = new Map<string, Person>()
  const client = { id: 'assistant-platform', secret: 'the secret of the client' }
  // The provider must know its address before it is made, so the server is there first.
  const ready: { handle?: (request: IncomingMessage, response: ServerResponse) => Promise<void> } = {}
  const server = await startHttpServer(async (request, response) => ready.handle?.(request, response))
  const provider = new Provider(server.url, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        ...(logoutUri === undefined ? {} : { backchannel_logout_uri: logoutUri }),
      },
    ],
    // Its own guard refuses loopback addresses.
    fetch: (url, init) => {
      const { dispatcher: _guard, ...options }: RequestInit & { dispatcher?: unknown } = init ?? {}
      return fetch(url, options)
    },
    features: { backchannelLogout: { enabled: logoutUri !== undefined } },
    claims: { email: ['email', 'email_verified'], profile: ['given_name', 'family_name', 'groups'] },
    cookies: { keys: ['the key of the cookies'] },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    pkce: { required: () => true },
    findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id, ...people.get(id) }) }),
  })
  ready.handle = provider.callback()
  return { issuer: server.url, client, people, close: server.close }
}

/**
 * Goes the way of a browser by HTTP: from our login through the pages of the provider back to our callback, whose answer it
 * returns. `logOut` ends the session at the provider, which then tells its clients.
 */
export async function logInByHttp(serviceUrl: string, providerId: string, name: string) {
  const jar = new Map<string, Map<string, string>>()
  async function go(url: string, form?: Record<string, string>): Promise<Response> {
    const { host } = new URL(url)
    const cookies = jar.get(host) ?? new Map<string, string>()
    jar.set(host, cookies)
    const response = await fetch(url, {
      redirect: 'manual',
      method: form === undefined ? 'GET' : 'POST',
      headers: { cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join('; ') },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';', 1)
      const [key = '', ...value] = pair.split('=')
      cookies.set(key, value.join('='))
    }
    return response
  }
  let url = `${serviceUrl}/auth/social/login?provider=${providerId}`
  let issuer = ''
  for (let step = 0; step < 20; step++) {
    const response = await go(url)
    if (url.includes('/auth/social/callback'))
      return {
        status: response.status,
        location: response.headers.get('location') ?? '',
        text: await response.text(),
        async logOut() {
          const page = await (await go(`${issuer}/session/end`)).text()
          const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
          await go(`${issuer}/session/end/confirm`, { xsrf, logout: 'yes' })
        },
      }
    const location = response.headers.get('location')
    if (location !== null) {
      url = new URL(location, url).toString()
      continue
    }
    // A page for login or consent.
    issuer = new URL(url).origin
    const page = await response.text()
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1] ?? 'login'
    const sent = await go(url, { prompt, ...(prompt === 'login' ? { login: name, password: 'any', sub: name } : {}) })
    url = new URL(sent.headers.get('location') ?? '', url).toString()
  }
  throw new Error('the login came to no end')
}
