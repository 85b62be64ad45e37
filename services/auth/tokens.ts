import { type KeyObject, createPublicKey, hash } from 'node:crypto'
import { type JWTPayload, SignJWT, decodeProtectedHeader, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { AppError } from '../../domain/errors.ts'

export interface TokenSettings {
  jwtAlgorithms: ('HS256' | 'RS256')[]
  jwtIssuer: string
  jwtAudience: string
  jwtSecret: string
  jwtDecodeKeyBase64?: string | undefined
}

/** The content of a verified service token. */
export interface TokenClaims {
  user_id: string
  project_id: string
  email?: string
  /** The login of a program, which its user can end (`services/accounts/program-logins.ts`). */
  login_id?: string
  /** In whole seconds. Of a token that does not say it, as long before its end as tokens of this service. */
  issued_at: Date
  /** When the token ends. */
  expires_at: Date
}

export type Tokens = ReturnType<typeof createTokens>

export const tokenDays = 30
const minSecretBytes = 16
/** Most tokens whose signature need not be checked again. */
const maxVerified = 5000
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Signs and verifies service tokens (JWT, RFC 7519). Each accepted algorithm has exactly one key of the matching
 * kind, so a public RSA key is never used as an HMAC secret. The base64 decode key, if set, is the RSA public key
 * if it is one in PEM form, and otherwise the HMAC secret, in place of `jwtSecret`. Tokens of login, social login
 * and projects are HS256, signed with the secret that verifies them. Throws for keys that cannot be used.
 */
export function createTokens(settings: TokenSettings) {
  const keys = verificationKeys(settings)
  const signingKey = keys.HS256 ?? Buffer.from(settings.jwtSecret)
  /** By digest of the token: what it says, and the second from which it is refused. */
  const verified = new LRUCache<string, { claims: TokenClaims; expiresAt: number }>({ max: maxVerified })

  return {
    /** A token for a user, pinned to a project, valid for 30 days. */
    sign: ({ user_id, project_id, login_id }: Omit<TokenClaims, 'email' | 'issued_at' | 'expires_at'>) =>
      new SignJWT({ user_id, project_id, ...(login_id !== undefined && { login_id }) })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(settings.jwtIssuer)
        .setAudience(settings.jwtAudience)
        .setIssuedAt()
        .setExpirationTime(`${tokenDays}d`)
        .sign(signingKey),

    /**
     * Throws `unauthenticated` for a token that is malformed, wrongly signed, expired, or not issued for this
     * service. A token that was accepted once is only asked for its expiry after that.
     */
    async verify(token: string): Promise<TokenClaims> {
      const digest = hash('sha256', token, 'base64')
      const known = verified.get(digest)
      if (known !== undefined && Date.now() / 1000 < known.expiresAt) return known.claims
      try {
        const { alg } = decodeProtectedHeader(token)
        const key = alg === 'HS256' || alg === 'RS256' ? keys[alg] : undefined
        if (alg === undefined || key === undefined) throw new Error('algorithm not accepted')
        const { payload } = await jwtVerify(token, key, {
          algorithms: [alg],
          issuer: settings.jwtIssuer,
          audience: settings.jwtAudience,
          requiredClaims: ['exp'],
        })
        const claims = claimsOf(payload)
        verified.set(digest, { claims, expiresAt: payload.exp ?? 0 })
        return claims
      } catch (cause) {
        throw new AppError('unauthenticated', 'The access token is invalid.', { cause })
      }
    },
  }
}

function claimsOf(payload: JWTPayload): TokenClaims {
  const { user_id: userId, project_id: projectId, email, login_id: loginId } = payload
  if (typeof userId !== 'string' || !uuidPattern.test(userId)) throw new Error('claim user_id is not a UUID')
  if (typeof projectId !== 'string' || !uuidPattern.test(projectId)) throw new Error('claim project_id is not a UUID')
  return {
    user_id: userId.toLowerCase(),
    project_id: projectId.toLowerCase(),
    ...(typeof email === 'string' ? { email } : {}),
    ...(typeof loginId === 'string' ? { login_id: loginId } : {}),
    issued_at: new Date((payload.iat ?? (payload.exp ?? 0) - tokenDays * 24 * 3600) * 1000),
    expires_at: new Date((payload.exp ?? 0) * 1000),
  }
}

type Keys = Partial<{ HS256: Uint8Array; RS256: KeyObject }>

/** The keys that tokens are verified with: at most one for each algorithm, of the matching kind. */
function verificationKeys(settings: TokenSettings): Keys {
  const decodeKey = readDecodeKey(settings.jwtDecodeKeyBase64)
  const keys: Keys = {}
  if (settings.jwtAlgorithms.includes('HS256')) {
    keys.HS256 = decodeKey?.kind === 'secret' ? decodeKey.bytes : Buffer.from(settings.jwtSecret)
  }
  if (settings.jwtAlgorithms.includes('RS256')) {
    if (decodeKey?.kind !== 'rsa')
      throw new Error(
        'JWT_ALGORITHM names RS256, but JWT_DECODE_KEY_BASE64 does not contain an RSA public key in PEM form',
      )
    keys.RS256 = decodeKey.key
  }
  return keys
}

function readDecodeKey(
  base64: string | undefined,
): { kind: 'secret'; bytes: Buffer } | { kind: 'rsa'; key: KeyObject } | undefined {
  if (base64 === undefined) return undefined
  const bytes = Buffer.from(base64, 'base64')
  if (!bytes.includes('-----BEGIN')) {
    // Also rejects a value that is not base64: an empty secret would let everybody sign.
    if (bytes.length < minSecretBytes)
      throw new Error(`JWT_DECODE_KEY_BASE64 must contain at least ${minSecretBytes} bytes in base64`)
    return { kind: 'secret', bytes }
  }
  const key = readPublicKey(bytes)
  if (key?.asymmetricKeyType !== 'rsa')
    throw new Error('JWT_DECODE_KEY_BASE64 contains a PEM text that is not an RSA public key')
  return { kind: 'rsa', key }
}

function readPublicKey(pem: Buffer): KeyObject | undefined {
  try {
    return createPublicKey(pem)
  } catch {
    return undefined
  }
}
