import { type KeyObject, createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import { AppError } from '../../domain/errors.ts'

const lifetime = '1h'

/** The RSA key that exchange tokens are signed with. A PEM text in one line may write its line ends as `\n`. */
export function readSigningKey(pem: string): KeyObject {
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
export function signExchangeToken(
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
