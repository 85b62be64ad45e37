import * as openid from 'openid-client'
import { claimedGroupsOf } from '../../domain/claimed-groups.ts'
import { cutText } from '../../domain/cut-text.ts'
import { AppError } from '../../domain/errors.ts'
import { jsonLimitIn } from '../../domain/foreign-json.ts'
import { type LoginProvider, shortFormId } from '../../domain/login-providers.ts'
import { verifiedEmailOf } from '../../domain/verified-email.ts'
import type { IdentityProvider } from '../../services/accounts/social-login.ts'
import type { Settings } from '../config.ts'
import { scanningFetch } from '../outbound/scan-answer.ts'
import { isLoopback } from './loopback.ts'

type SocialSettings = Pick<Settings, 'oauthVerifiedIssuers' | 'baseUrl'>

const timeoutSeconds = 10
/** Also bounds the ID token in such an answer, whose claims the client parses. */
const maxAnswerBytes = 256 * 1024
/** How long the provider's discovery document is cached. */
const discoveryLifetimeMs = 60 * 60 * 1000

/**
 * Any OpenID Connect provider with a discovery document (OpenID Connect Discovery 1.0). Authorization code flow
 * with PKCE (RFC 7636), `state` and `nonce`; the signature of the ID token is checked, too.
 */
export function createSocialProvider(provider: LoginProvider, settings: SocialSettings): IdentityProvider {
  // Each provider answers to an address of its own, so that none can be made to answer for another (RFC 9700, 4.4).
  const redirectUri = `${settings.baseUrl}/auth/social/callback${provider.id === shortFormId ? '' : `/${provider.id}`}`
  let discovered: { at: number; config: Promise<openid.Configuration> } | undefined

  return {
    async begin() {
      const config = await configuration()
      const attempt = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        codeVerifier: openid.randomPKCECodeVerifier(),
      }
      const redirectTo = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: ['openid', 'email', 'profile', ...provider.scopes].join(' '),
        code_challenge: await openid.calculatePKCECodeChallenge(attempt.codeVerifier),
        code_challenge_method: 'S256',
        state: attempt.state,
        nonce: attempt.nonce,
      })
      return { redirectTo: redirectTo.toString(), attempt }
    },

    async finish(query, { state, nonce, codeVerifier }) {
      const config = await configuration()
      const tokens = await openid
        .authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        })
        .catch((cause: unknown) => {
          throw explain(cause)
        })
      const claims = tokens.claims()
      if (claims === undefined) throw new AppError('internal', 'The identity provider sent no ID token.')
      const wanted = provider.groupsClaims
      const { profile, said } = await readProfile(config, tokens.access_token, claims, wanted)
      const groups = claimedGroupsOf(said, wanted)
      return {
        issuer: claims.iss,
        subject: claims.sub,
        ...verifiedEmailOf(profile, {
          issuer: claims.iss,
          trusted: provider.trustsAddresses ? [claims.iss] : settings.oauthVerifiedIssuers,
        }),
        ...(groups === undefined ? {} : { groups }),
        firstName: profile.firstName && cutText(profile.firstName, 200),
        lastName: profile.lastName && cutText(profile.lastName, 200),
      }
    },
  }

  async function configuration(): Promise<openid.Configuration> {
    if (discovered === undefined || Date.now() - discovered.at > discoveryLifetimeMs) {
      discovered = { at: Date.now(), config: discover(provider) }
    }
    try {
      return await discovered.config
    } catch (error) {
      discovered = undefined
      throw error
    }
  }
}

async function discover({ issuer, clientId, clientSecret }: LoginProvider): Promise<openid.Configuration> {
  const required = { OAUTH_ISSUER: issuer, OAUTH_CLIENT_ID: clientId, OAUTH_CLIENT_SECRET: clientSecret }
  const missing = Object.entries(required).flatMap(([name, value]) => (value === undefined ? [name] : []))
  if (issuer === undefined || clientId === undefined || missing.length > 0) {
    throw new AppError('internal', `OAuth configuration error: ${missing.join(', ')} missing.`)
  }
  const server = new URL(issuer)
  const insecure = server.protocol === 'http:'
  if (insecure && !isLoopback(server)) {
    throw new AppError('internal', 'OAuth configuration error: OAUTH_ISSUER must be an https address.')
  }
  const execute = [openid.enableNonRepudiationChecks, ...(insecure ? [openid.allowInsecureRequests] : [])]
  try {
    return await openid.discovery(server, clientId, clientSecret, undefined, {
      execute,
      timeout: timeoutSeconds,
      [openid.customFetch]: scanningFetch((input, init) => fetch(input, init), { bytes: maxAnswerBytes }),
    })
  } catch (cause) {
    refuseExcess(cause)
    throw new AppError('internal', 'OAuth configuration error: no OpenID provider answers at OAUTH_ISSUER.', { cause })
  }
}

interface Profile {
  email: unknown
  email_verified: unknown
  firstName: string | undefined
  lastName: string | undefined
}

/** Some providers do not put address and groups into the ID token, only into the userinfo endpoint. */
async function readProfile(
  config: openid.Configuration,
  accessToken: string,
  claims: openid.IDToken,
  groupsClaims: readonly string[],
): Promise<{ profile: Profile; said: Record<string, unknown> }> {
  const hasAddress = claims['email'] !== undefined && claims['email_verified'] !== undefined
  const isComplete = hasAddress && groupsClaims.every((name) => claims[name] !== undefined)
  if (isComplete || config.serverMetadata().userinfo_endpoint === undefined)
    return { profile: profileOf(claims), said: claims }
  const info: Record<string, unknown> = await openid
    .fetchUserInfo(config, accessToken, claims.sub)
    .catch((cause: unknown) => {
      throw explain(cause)
    })
  return { profile: profileOf(hasAddress ? claims : info), said: { ...info, ...claims } }
}

/** Standard claims (OpenID Connect Core, section 5.1). */
function profileOf({ email, email_verified, ...claims }: Record<string, unknown>): Profile {
  return { email, email_verified, firstName: textOf(claims['given_name']), lastName: textOf(claims['family_name']) }
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/**
 * Errors of the caller's input are bad requests; a provider that does not answer, or answers nonsense, is not the
 * caller's fault.
 */
function explain(cause: unknown): AppError {
  refuseExcess(cause)
  if (cause instanceof openid.AuthorizationResponseError) {
    return new AppError('bad_request', 'The identity provider did not confirm the login.', { cause })
  }
  if (cause instanceof openid.ResponseBodyError && cause.error === 'invalid_grant') {
    return new AppError('bad_request', 'The login has expired or was used already; start again.', { cause })
  }
  if (cause instanceof openid.ClientError && callbackFaults.includes(cause.code ?? '')) {
    return new AppError('bad_request', 'The callback does not belong to a login that was started here.', { cause })
  }
  return new AppError('internal', 'The identity provider could not be reached.', { cause })
}

function refuseExcess(cause: unknown): void {
  const excess = jsonLimitIn(cause)
  if (excess) throw new AppError('internal', `What the identity provider sent ${excess.message}.`, { cause })
}

const callbackFaults = ['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED']
