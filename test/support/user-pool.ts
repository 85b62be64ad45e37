import { type JWK, SignJWT, exportJWK, generateKeyPair } from 'jose'
import { sendJson, startHttpServer } from './http-server.ts'

export type UserPool = Awaited<ReturnType<typeof startUserPool>>

/** A user pool as the cloud has them: it publishes its keys and signs ID tokens. */
export async function startUserPool({ clientId = 'app-client' } = {}) {
  let published: JWK[] = []
  let signing = await newKey('key-1')
  let keyReads = 0
  const server = await startHttpServer((request, response) => {
    if (request.url !== '/pool/.well-known/jwks.json') return sendJson(response, 404, { message: 'no such page' })
    keyReads += 1
    return sendJson(response, 200, { keys: published })
  })
  const issuer = `${server.url}/pool`

  async function newKey(kid: string) {
    const { publicKey, privateKey } = await generateKeyPair('RS256')
    published = [...published, { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }]
    return { kid, privateKey }
  }

  return {
    issuer,
    clientId,
    keyReads: () => keyReads,
    /** From now on tokens are signed with a new key, and the older ones are not published any more. */
    rotate: async (kid: string) => {
      published = []
      signing = await newKey(kid)
    },
    idToken: (
      claims: Record<string, unknown>,
      {
        iss = issuer,
        aud = clientId,
        expires = '5m',
        kid = signing.kid,
      }: { iss?: string; aud?: string; expires?: string; kid?: string | undefined } = {},
    ) =>
      new SignJWT({ token_use: 'id', ...claims })
        .setProtectedHeader({ alg: 'RS256', ...(kid === '' ? {} : { kid }) })
        .setIssuer(iss)
        .setAudience(aud)
        .setIssuedAt()
        .setExpirationTime(expires)
        .sign(signing.privateKey),
    close: server.close,
  }
}
