import { type KeyObject, createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import { claimedGroupsOf } from '../../domain/claimed-groups.ts'
import { AppError } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import type { Provider } from '../../domain/records/user.ts'
import { requireUsable } from '../auth/usable.ts'
import type { NoteClaims } from '../groups/claimed-groups.ts'
import type { createExternalUsers } from './external-users.ts'
import type { Homes } from './home.ts'

/** Undefined if the setting is missing. */
export interface ExchangeSettings {
  userpoolId: string | undefined
  userpoolClientId: string | undefined
  userpoolRegion: string
  userpoolIssuer: string | undefined
  exchangeTokenIssuer: string | undefined
  exchangeTokenAudience: string | undefined
  exchangePrivateKey: string | undefined
  userpoolGroupsClaims: string[]
}

interface IdTokenClaims {
  subject: string
  email?: string
  /** Also true if the pool does not say: the pool belongs to the operator, and not every pool has the claim. */
  emailVerified: boolean
  /** All that the token says. */
  said: Readonly<Record<string, unknown>>
}

/**
 * Checks an ID token against its pool's published keys: signature by the key that it names, issuer, audience,
 * expiry. Throws `unauthenticated` for an invalid token, `internal` if the keys could not be fetched.
 */
export type VerifyIdToken = (token: string, pool: { issuer: string; clientId: string }) => Promise<IdTokenClaims>

interface ExchangeDeps {
  settings: ExchangeSettings
  verifyIdToken: VerifyIdToken
  findOrCreate: ReturnType<typeof createExternalUsers>
  noteClaims: NoteClaims
  homes: Pick<Homes, 'ensureMainProject'>
}

/** Exchanges a user pool's ID token for a service token. */
export function createExchange({ settings, verifyIdToken, findOrCreate, noteClaims, homes }: ExchangeDeps) {
  let configuration: ReturnType<typeof configure> | undefined

  /**
   * Throws `internal` with the names of missing settings, `unauthenticated` for an invalid ID token, and `conflict`
   * if the address has an account of another kind or another subject.
   */
  return async function exchange(idToken: string | undefined, language?: Language): Promise<string> {
    const config = (configuration ??= configure(settings))
    if (idToken === undefined) throw new AppError('unauthenticated', 'An ID token of the user pool is required.')
    const { subject, email, emailVerified, said } = await verifyIdToken(idToken, config.pool)
    if (email === undefined || !emailVerified) {
      throw new AppError('unauthenticated', 'The ID token contains no verified e-mail address.')
    }
    const found = await findOrCreate('userpool', { issuer: config.pool.issuer, subject, email }, { language })
    if (found.kind === 'other_provider') throw new AppError('conflict', otherProvider[found.provider])
    if (found.kind === 'other_subject') throw new AppError('conflict', otherSubject)
    requireUsable(found.user)
    const groups = claimedGroupsOf(said, settings.userpoolGroupsClaims)
    if (groups !== undefined) await noteClaims(found.user, config.pool.issuer, groups)
    const project = await homes.ensureMainProject(found.user._id)
    const claims = { user_id: found.user._id, project_id: project._id, email: found.user.email ?? email }
    return signExchangeToken(config.key, claims, config.token)
  }
}

const otherProvider: Record<Provider, string> = {
  email: 'This e-mail address has an account with a password; log in with the password.',
  social: 'This e-mail address has an account of the social login; log in there.',
  userpool: 'This e-mail address has an account of another user pool.',
}

const otherSubject =
  'This e-mail address has an account that is bound to another identity (claim sub) of the user pool; log in with that one, or ask the operator.'

interface ExchangeConfiguration {
  pool: { issuer: string; clientId: string }
  token: { issuer: string; audience: string }
  key: KeyObject
}

function configure(settings: ExchangeSettings): ExchangeConfiguration {
  const { userpoolId, userpoolClientId: clientId, exchangeTokenIssuer: issuer, exchangePrivateKey } = settings
  const missing = Object.entries({
    USERPOOL_ID: userpoolId,
    USERPOOL_CLIENT_ID: clientId,
    EXCHANGE_TOKEN_ISSUER: issuer,
    EXCHANGE_PRIVATE_KEY: exchangePrivateKey,
  }).flatMap(([name, value]) => (value === undefined ? [name] : []))
  if (!userpoolId || !clientId || !issuer || !exchangePrivateKey) {
    throw new AppError('internal', `Exchange configuration error: ${missing.join(', ')} missing.`)
  }
  const cloudIssuer = `https://cognito-idp.${settings.userpoolRegion}.amazonaws.com/${userpoolId}`
  return {
    pool: { issuer: settings.userpoolIssuer ?? cloudIssuer, clientId },
    token: { issuer, audience: settings.exchangeTokenAudience ?? issuer },
    key: readSigningKey(exchangePrivateKey),
  }
}

const lifetime = '1h'

/** The RSA key that exchange tokens are signed with. A PEM text in one line may write its line ends as `\n`. */
function readSigningKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem.replaceAll('\\n', '\n'))
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // The error's message may contain the key.
  }
  throw new AppError(
    'internal',
    'Exchange configuration error: EXCHANGE_PRIVATE_KEY is not an RSA private key in PEM form.',
  )
}

/**
 * A service token valid for one hour that also contains the user's address, for services that hold the public key.
 */
function signExchangeToken(
  key: KeyObject,
  claims: { user_id: string; project_id: string; email: string },
  { issuer, audience }: { issuer: string; audience: string },
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(lifetime)
    .sign(key)
}
