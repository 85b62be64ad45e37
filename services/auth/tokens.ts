import { Buffer } from 'node:buffer'
import {
  type CryptoKey,
  type JWTPayload,
  type KeyObject,
  SignJWT,
  decodeProtectedHeader,
  importSPKI,
  jwtVerify,
} from 'jose'
import { AppError } from '../../domain/errors.ts'

export interface TokenSettings {
  jwtAlgorithms: ('HS256' | 'RS256')[]
  jwtIssuer: string
  jwtAudience: string
  jwtSecret: string
  jwtDecodeKeyBase64?: string | undefined
}

/** What a verified service token says. */
export interface TokenClaims {
  user_id: string
  project_id: string
  email?: string
}

export type Tokens = Awaited<ReturnType<typeof createTokens>>

const lifetime = '30d'
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Signs and checks service tokens (JWT, RFC 7519). Tokens of login, social login and projects are
 * HS256 under `jwtSecret`. For checking, each configured algorithm has exactly one key of its own
 * kind, so a public RSA key can never be taken for an HMAC secret: the base64 decode key, when set,
 * is the RSA public key (PEM) if it is one and the HMAC secret otherwise, and wins over `jwtSecret`.
 */
export async function createTokens(settings: TokenSettings) {
  const signingKey = Buffer.from(settings.jwtSecret)
  const keys = await verificationKeys(settings)

  return {
    /** A token of 30 days for a user, pinned to a project. */
    sign: (claims: { user_id: string; project_id: string }) =>
      new SignJWT({ user_id: claims.user_id, project_id: claims.project_id })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(settings.jwtIssuer)
        .setAudience(settings.jwtAudience)
        .setExpirationTime(lifetime)
        .sign(signingKey),

    /** Throws `unauthenticated` for a token that is malformed, wrongly signed, expired, or not ours. */
    async verify(token: string): Promise<TokenClaims> {
      try {
        const { alg } = decodeProtectedHeader(token)
        const key = alg === 'HS256' || alg === 'RS256' ? keys.get(alg) : undefined
        if (alg === undefined || key === undefined) throw new Error('algorithm not accepted')
        const { payload } = await jwtVerify(token, key, {
          algorithms: [alg],
          issuer: settings.jwtIssuer,
          audience: settings.jwtAudience,
          requiredClaims: ['exp'],
        })
        return claimsOf(payload)
      } catch (cause) {
        throw new AppError('unauthenticated', 'The access token is not valid.', { cause })
      }
    },
  }
}

function claimsOf(payload: JWTPayload): TokenClaims {
  const { user_id: userId, project_id: projectId, email } = payload
  if (typeof userId !== 'string' || !uuidPattern.test(userId)) throw new Error('claim user_id is not a UUID')
  if (typeof projectId !== 'string' || !uuidPattern.test(projectId)) throw new Error('claim project_id is not a UUID')
  return {
    user_id: userId.toLowerCase(),
    project_id: projectId.toLowerCase(),
    ...(typeof email === 'string' ? { email } : {}),
  }
}

async function verificationKeys(
  settings: TokenSettings,
): Promise<Map<'HS256' | 'RS256', CryptoKey | KeyObject | Uint8Array>> {
  const decodeKey =
    settings.jwtDecodeKeyBase64 === undefined ? undefined : Buffer.from(settings.jwtDecodeKeyBase64, 'base64')
  const pem = decodeKey?.toString('utf8').includes('-----BEGIN') ? decodeKey.toString('utf8') : undefined
  const keys = new Map<'HS256' | 'RS256', CryptoKey | KeyObject | Uint8Array>()
  for (const algorithm of settings.jwtAlgorithms) {
    if (algorithm === 'HS256')
      keys.set('HS256', decodeKey !== undefined && pem === undefined ? decodeKey : Buffer.from(settings.jwtSecret))
    else if (pem !== undefined) keys.set('RS256', await importSPKI(pem, 'RS256'))
    else throw new Error('JWT_ALGORITHM names RS256, but JWT_DECODE_KEY_BASE64 holds no public key in PEM form')
  }
  return keys
}
