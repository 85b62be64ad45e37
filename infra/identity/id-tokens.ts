import { setTimeout } from 'node:timers/promises'
import { type JWTPayload, createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose'
import { AppError } from '../../domain/errors.ts'
import { jsonLimitIn } from '../../domain/foreign-json.ts'
import type { VerifyIdToken } from '../../services/accounts/exchange.ts'
import type { VerifyLogoutToken } from '../../services/accounts/provider-logout.ts'
import { scanningFetch } from '../outbound/scan-answer.ts'
import { isLoopback } from './loopback.ts'

type KeySet = ReturnType<typeof createRemoteJWKSet>

/** Public-key algorithms only, because a published key set contains only public keys. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']

/** An unknown key is looked up at most once in this time, for all tokens together. */
const cooldownMs = 1000
const keysLifetimeMs = 10 * 60 * 1000
const timeoutMs = 5000
/** Key sets and discovery documents have some kilobytes. */
const maxAnswerBytes = 256 * 1024
const fetchScanned = scanningFetch((input, init) => fetch(input, init), { bytes: maxAnswerBytes })

/**
 * Checks ID tokens (OpenID Connect Core, section 3.1.3.7) and logout tokens against the key sets of their issuers. Key
 * sets are cached for ten minutes; a token that names an unknown key has them read again, so that a key rotation is
 * noticed at once.
 */
export function createTokenVerifiers(): { verifyIdToken: VerifyIdToken; verifyLogoutToken: VerifyLogoutToken } {
  const keySets = new Map<string, Promise<KeySet>>()

  const keysOf = (issuer: string): Promise<KeySet> => {
    const known = keySets.get(issuer)
    if (known) return known
    const found = findKeySet(issuer)
    keySets.set(issuer, found)
    found.catch(() => keySets.delete(issuer))
    return found
  }

  async function payloadOf(
    { issuer, invalid, owner }: { issuer: string; invalid: (cause: unknown) => AppError; owner: string },
    verifyWith: (keys: KeySet) => Promise<JWTPayload>,
  ): Promise<JWTPayload> {
    try {
      const keys = await keysOf(issuer)
      return await verifyWith(keys).catch(async (error: unknown) => {
        if (!(error instanceof errors.JWKSNoMatchingKey) || !keys.coolingDown) throw error
        // The keys were read a moment ago, perhaps just before they were rotated.
        await setTimeout(cooldownMs)
        return verifyWith(keys)
      })
    } catch (cause) {
      if (cause instanceof AppError) throw cause
      if (isTokenFault(cause)) throw invalid(cause)
      const excess = jsonLimitIn(cause)
      const reason = excess ? `: its answer ${excess.message}` : ''
      throw new AppError('internal', `The keys of the ${owner} could not be fetched${reason}.`, { cause })
    }
  }

  return {
    async verifyIdToken(token, { issuer, clientId }) {
      const invalid = (cause: unknown) => new AppError('unauthenticated', 'The ID token is invalid.', { cause })
      const payload = await payloadOf({ issuer, invalid, owner: 'user pool' }, (keys) =>
        verify(token, keys, issuer, clientId),
      )
      return claimsOf(payload)
    },

    async verifyLogoutToken(token, { issuer, clientId }) {
      const invalid = (cause: unknown) => new AppError('bad_request', 'The logout token is invalid.', { cause })
      const { sub, jti } = await payloadOf({ issuer, invalid, owner: 'identity provider' }, (keys) =>
        verifyLogout(token, keys, issuer, clientId),
      )
      return { issuer, tokenId: String(jti), ...(sub === undefined ? {} : { subject: sub }) }
    },
  }
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

/** Not an ID token, whose issuer and audience are the same: it has the event, and no nonce. */
async function verifyLogout(token: string, keys: KeySet, issuer: string, clientId: string): Promise<JWTPayload> {
  const { payload } = await jwtVerify(token, keys, {
    algorithms,
    issuer: spellingsOf(issuer),
    audience: clientId,
    requiredClaims: ['iat', 'jti', 'events'],
    maxTokenAge: '10 minutes',
    clockTolerance: '1 minute',
  })
  const { events, nonce, sub, sid } = payload
  const isLogout = typeof events === 'object' && events !== null && Object.keys(events).includes(logoutEvent)
  if (!isLogout || nonce !== undefined) throw new errors.JWTInvalid('not a logout token')
  if (sub === undefined && sid === undefined) throw new errors.JWTInvalid('the token names neither user nor session')
  return payload
}

/** Settings and tokens do not always agree about a trailing slash. */
function spellingsOf(issuer: string): string[] {
  const bare = issuer.replace(/\/+$/, '')
  return [bare, `${bare}/`]
}

async function verify(token: string, keys: KeySet, issuer: string, clientId: string): Promise<JWTPayload> {
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    algorithms,
    issuer: spellingsOf(issuer),
    audience: clientId,
    requiredClaims: ['exp', 'sub'],
  })
  if (protectedHeader.kid === undefined) throw new errors.JWTInvalid('the token names no key')
  if (payload['token_use'] !== undefined && payload['token_use'] !== 'id')
    throw new errors.JWTInvalid('not an ID token')
  return payload
}

function claimsOf(payload: JWTPayload) {
  const { sub, email, email_verified: verified } = payload
  return {
    subject: String(sub),
    ...(typeof email === 'string' && email !== '' ? { email } : {}),
    // Some pools send the boolean as text, and some leave the claim out. Any other value means no.
    emailVerified: verified === undefined || verified === true || verified === 'true',
    said: payload,
  }
}

/**
 * Errors of the token itself; all others, such as a key set that could not be fetched, are not caused by the
 * caller.
 */
function isTokenFault(error: unknown): boolean {
  return [
    errors.JWTExpired,
    errors.JWTClaimValidationFailed,
    errors.JWTInvalid,
    errors.JWSInvalid,
    errors.JWSSignatureVerificationFailed,
    errors.JWKSNoMatchingKey,
    errors.JWKSMultipleMatchingKeys,
    errors.JOSEAlgNotAllowed,
    errors.JOSENotSupported,
  ].some((kind) => error instanceof kind)
}

/** Where the provider's discovery document says that its keys are, or else where cloud user pools have them. */
async function findKeySet(issuer: string): Promise<KeySet> {
  const base = issuer.replace(/\/+$/, '')
  const url = (await publishedKeySet(base)) ?? new URL(`${base}/.well-known/jwks.json`)
  if (url.protocol !== 'https:' && !isLoopback(url)) {
    throw new AppError('internal', 'The keys of an issuer must be at an https address (USERPOOL_ISSUER, OAUTH_ISSUER).')
  }
  return createRemoteJWKSet(url, {
    cooldownDuration: cooldownMs,
    cacheMaxAge: keysLifetimeMs,
    timeoutDuration: timeoutMs,
    [customFetch]: fetchScanned,
  })
}

async function publishedKeySet(base: string): Promise<URL | undefined> {
  const response = await fetchScanned(`${base}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'error',
  })
  if (response.status >= 500) throw new Error(`the pool answered ${response.status}`)
  const document: unknown = response.ok ? await response.json().catch(() => undefined) : undefined
  if (typeof document !== 'object' || document === null || !('jwks_uri' in document)) return undefined
  return typeof document.jwks_uri === 'string' && URL.canParse(document.jwks_uri)
    ? new URL(document.jwks_uri)
    : undefined
}
