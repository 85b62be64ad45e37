import { randomBytes } from 'node:crypto'
import {
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from '@modelcontextprotocol/sdk/client/auth.js'
import { InvalidGrantError, OAuthError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { checkResourceAllowed, resourceUrlFromServerUrl } from '@modelcontextprotocol/sdk/shared/auth-utils.js'
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { AppError } from '../../domain/errors.ts'
import type { Fetch } from '../outbound.ts'
import type { LoginServer, Tokens } from './login-server.ts'

interface LoginRequest {
  fetch: Fetch
  redirectUri: string
}

type Client = LoginServer['client'] | undefined

/** An OAuth 2.1 client in a browser needs these of it (MCP 2025-11-25, Authorization). */
const challengeMethod = 'S256'
const clientName = 'Assistant Platform'

/**
 * Finds the authorization server of an MCP server (RFC 9728, RFC 8414), registers this service with it where no `client` is
 * given, and says where the browser goes, with the secrets of the attempt. Throws `bad_request` if the server offers no such
 * login.
 */
export async function beginLogin(
  url: string,
  { fetch, redirectUri, client: given }: LoginRequest & { client: Client },
) {
  const { resourceMetadataUrl, scope } = await challengeOf(url, fetch)
  const found = await discoverOAuthServerInfo(url, {
    fetchFn: fetch,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  }).catch(refuse)
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found
  if (metadata === undefined) throw noLogin('names no server where one can log in')
  // Else one server could answer in the name of another (RFC 8414, 3.3).
  if (!isSame(metadata.issuer, authorizationServerUrl)) throw noLogin('names a login server that calls itself another')
  if (metadata.code_challenge_methods_supported?.includes(challengeMethod) !== true)
    throw noLogin('has a login server without PKCE (S256)')
  if (given === undefined && metadata.registration_endpoint === undefined)
    throw noLogin(
      'has a login server at which programs cannot register themselves: register one there, and give its client id',
    )
  const resource = resourceMetadata?.resource
  if (resource !== undefined) requireOwn(url, resource)
  const wanted = scope ?? resourceMetadata?.scopes_supported?.join(' ')
  const client =
    given ??
    (await registerClient(authorizationServerUrl, {
      metadata,
      clientMetadata: {
        client_name: clientName,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      fetchFn: fetch,
      ...(wanted && { scope: wanted }),
    }).catch(refuse))
  const server: LoginServer = {
    url: String(authorizationServerUrl),
    metadata: {
      issuer: metadata.issuer,
      authorization_endpoint: metadata.authorization_endpoint,
      token_endpoint: metadata.token_endpoint,
      response_types_supported: metadata.response_types_supported,
      token_endpoint_auth_methods_supported: metadata.token_endpoint_auth_methods_supported ?? [],
      authorization_response_iss_parameter_supported:
        'authorization_response_iss_parameter_supported' in metadata &&
        metadata['authorization_response_iss_parameter_supported'] === true,
    },
    client: { client_id: client.client_id, ...(client.client_secret && { client_secret: client.client_secret }) },
    ...(resource && { resource }),
  }
  const state = randomBytes(24).toString('base64url')
  const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServerUrl, {
    metadata,
    clientInformation: client,
    redirectUrl: redirectUri,
    state,
    ...(wanted && { scope: wanted }),
    ...(resource && { resource: new URL(resource) }),
  }).catch(refuse)
  requireSafe(authorizationUrl, url)
  return { redirectTo: authorizationUrl.href, state, codeVerifier, server }
}

/** Takes the code of the browser to the server. Throws `bad_request` if the server does not accept it. */
export async function tokensFor(
  server: LoginServer,
  { code, codeVerifier }: { code: string; codeVerifier: string },
  { fetch, redirectUri }: LoginRequest,
): Promise<Tokens> {
  const tokens = await exchangeAuthorization(server.url, {
    ...known(server),
    authorizationCode: code,
    codeVerifier,
    redirectUri,
    fetchFn: fetch,
  }).catch(refuse)
  return toTokens(tokens)
}

/** Undefined if the login has ended: a person has to log in again. Other failures are thrown, and may pass. */
export async function renewedTokens(
  server: LoginServer,
  refreshToken: string,
  fetch: Fetch,
): Promise<Tokens | undefined> {
  try {
    return toTokens(await refreshAuthorization(server.url, { ...known(server), refreshToken, fetchFn: fetch }))
  } catch (error) {
    if (error instanceof InvalidGrantError) return undefined
    throw new Error('the login server of the MCP server does not renew the login at the moment', { cause: error })
  }
}

function known({ metadata, client, resource }: LoginServer) {
  return { metadata, clientInformation: client, ...(resource && { resource: new URL(resource) }) }
}

function toTokens({ access_token, refresh_token, expires_in }: OAuthTokens): Tokens {
  return {
    accessToken: access_token,
    ...(refresh_token && { refreshToken: refresh_token }),
    ...(expires_in === undefined ? {} : { expiresAt: Date.now() + expires_in * 1000 }),
  }
}

/** What the server says to a request without a token (RFC 9728, 5.1). */
async function challengeOf(url: string, fetch: Fetch) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  }).catch((error: unknown) => {
    if (error instanceof AppError || (error instanceof Error && error.cause instanceof AppError)) refuse(error)
    throw new AppError('bad_request', 'The MCP server could not be reached.', { cause: error })
  })
  await response.body?.cancel()
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {}
}

/** A server must not ask for tokens for another one. */
function requireOwn(url: string, resource: string): void {
  const requestedResource = resourceUrlFromServerUrl(url)
  if (!checkResourceAllowed({ requestedResource, configuredResource: resource }))
    throw noLogin('asks for a login to another server')
}

/** Where the browser is sent: nothing but a page, and no unencrypted one for a server that is encrypted. */
function requireSafe(target: URL, server: string): void {
  const isPlain = target.protocol === 'http:' && new URL(server).protocol === 'http:'
  if (target.protocol !== 'https:' && !isPlain) throw noLogin('sends people to an address that is not safe')
}

const isSame = (one: string, other: string | URL) => one.replace(/\/$/, '') === String(other).replace(/\/$/, '')

const noLogin = (reason: string) => new AppError('bad_request', `The MCP server ${reason}.`)

/** Answers of the server can hold what was sent: none of its words are passed on. */
function refuse(error: unknown): never {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof AppError) throw at
  if (error instanceof InvalidGrantError)
    throw new AppError('bad_request', 'The login has expired or was used already; start again.', { cause: error })
  if (error instanceof OAuthError)
    throw new AppError('bad_request', `The login server of the MCP server refuses: ${error.errorCode}.`)
  throw new AppError('bad_request', 'The login server of the MCP server does not answer as it should.')
}
