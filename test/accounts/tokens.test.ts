import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { describe, expect, it, vi } from 'vitest'
import { AppError } from '../../domain/errors.ts'
import { type TokenSettings, createTokens } from '../../services/auth/tokens.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const base64 = (text: string) => Buffer.from(text).toString('base64')

const settings: TokenSettings = {
  jwtAlgorithms: ['HS256'],
  jwtIssuer: 'issuer',
  jwtAudience: 'audience',
  jwtSecret: 'the secret of the service',
}
const claims = { user_id: randomUUID(), project_id: randomUUID() }
const both = { ...settings, jwtAlgorithms: ['HS256' as const, 'RS256' as const], jwtDecodeKeyBase64: base64(publicPem) }

interface Changes {
  alg?: string
  key?: Parameters<SignJWT['sign']>[0]
  issuer?: string
  audience?: string
  expires?: string | null
  payload?: Record<string, unknown>
}

function token({
  alg = 'HS256',
  key,
  issuer = 'issuer',
  audience = 'audience',
  expires = '1h',
  payload = claims,
}: Changes) {
  const jwt = new SignJWT(payload).setProtectedHeader({ alg }).setIssuer(issuer).setAudience(audience)
  if (expires !== null) jwt.setExpirationTime(expires)
  return jwt.sign(key ?? Buffer.from(settings.jwtSecret))
}

const refused = expect.objectContaining({ code: 'unauthenticated' })

describe('service tokens', () => {
  it('are accepted with the claims that were signed', async () => {
    const tokens = createTokens(settings)
    expect(await tokens.verify(await tokens.sign(claims))).toMatchObject(claims)
  })

  it('are refused when they expire, also after they were accepted', async () => {
    const tokens = createTokens(settings)
    const short = await token({ expires: '1h' })
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      expect(await tokens.verify(short)).toMatchObject(claims)
      expect(await tokens.verify(short)).toMatchObject(claims)
      vi.setSystemTime(Date.now() + 3600_000)
      await expect(tokens.verify(short)).rejects.toEqual(refused)
    } finally {
      vi.useRealTimers()
    }
  })

  it('are refused with a changed signature, also after they were accepted', async () => {
    const tokens = createTokens(settings)
    const good = await token({})
    expect(await tokens.verify(good)).toMatchObject(claims)
    const end = good.endsWith('AAA') ? 'BBB' : 'AAA'
    await expect(tokens.verify(`${good.slice(0, -3)}${end}`)).rejects.toEqual(refused)
  })

  it.each<[string, Changes]>([
    ['of another issuer', { issuer: 'else' }],
    ['for another audience', { audience: 'else' }],
    ['that are over', { expires: '-1s' }],
    ['that never end', { expires: null }],
    ['of another secret', { key: Buffer.from('another secret of another service') }],
    ['without a user', { payload: { project_id: claims.project_id } }],
    ['without a project', { payload: { user_id: claims.user_id } }],
    ['whose user is no UUID', { payload: { ...claims, user_id: '{"$ne":null}' } }],
    ['of an algorithm that is not configured', { alg: 'RS256', key: rsa.privateKey }],
    ['of another HMAC', { alg: 'HS512' }],
  ])('are refused %s', async (_name, changes) => {
    await expect(createTokens(settings).verify(await token(changes))).rejects.toEqual(refused)
  })

  it.each(['', 'a.b.c', 'nonsense'])('are refused when malformed: "%s"', async (text) => {
    await expect(createTokens(settings).verify(text)).rejects.toBeInstanceOf(AppError)
  })

  it('are refused without a signature', async () => {
    const [, payload] = (await token({})).split('.')
    const header = Buffer.from('{"alg":"none"}').toString('base64url')
    await expect(createTokens(settings).verify(`${header}.${payload}.`)).rejects.toEqual(refused)
  })
})

describe('the decode key', () => {
  it('takes precedence over the secret, also for tokens that the service signs', async () => {
    const tokens = createTokens({ ...settings, jwtDecodeKeyBase64: base64('the decode key of the service') })
    const key = Buffer.from('the decode key of the service')
    expect(await tokens.verify(await token({ key }))).toMatchObject(claims)
    expect(await tokens.verify(await tokens.sign(claims))).toMatchObject(claims)
    await expect(tokens.verify(await token({}))).rejects.toEqual(refused)
  })

  it('can be a public RSA key in addition to the secret', async () => {
    const tokens = createTokens(both)
    expect(await tokens.verify(await token({ alg: 'RS256', key: rsa.privateKey }))).toMatchObject(claims)
    expect(await tokens.verify(await tokens.sign(claims))).toMatchObject(claims)
    const email = 'ada@example.com'
    expect(
      await tokens.verify(await token({ alg: 'RS256', key: rsa.privateKey, payload: { ...claims, email } })),
    ).toMatchObject({ ...claims, email })
  })

  it('can be a public RSA key in PKCS#1 PEM form', async () => {
    const pem = rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString()
    const tokens = createTokens({ ...both, jwtDecodeKeyBase64: base64(pem) })
    expect(await tokens.verify(await token({ alg: 'RS256', key: rsa.privateKey }))).toMatchObject(claims)
  })

  it.each([{ jwtAlgorithms: ['HS256' as const] }, { jwtAlgorithms: ['RS256' as const] }, {}])(
    'is never used as a secret when it is a public key (%o)',
    async (changes) => {
      const tokens = createTokens({ ...both, ...changes })
      for (const secret of [publicPem, publicPem.trim(), base64(publicPem)]) {
        const [header, payload] = (await token({})).split('.')
        const signature = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
        await expect(tokens.verify(`${header}.${payload}.${signature}`)).rejects.toEqual(refused)
      }
    },
  )

  it('accepts RS256 only when JWT_ALGORITHM names it', async () => {
    const tokens = createTokens({ ...both, jwtAlgorithms: ['HS256'] })
    await expect(tokens.verify(await token({ alg: 'RS256', key: rsa.privateKey }))).rejects.toEqual(refused)
  })

  it.each([
    ['nothing', undefined, ['RS256' as const]],
    ['a secret', base64('no key but a long secret'), ['RS256' as const]],
    ['too short a secret', base64('short'), ['HS256' as const]],
    ['no base64', '!!!!', ['HS256' as const]],
    ['a broken PEM text', base64('-----BEGIN PUBLIC KEY-----\nnothing'), ['RS256' as const]],
  ])('prevents the start when it is %s', (_name, jwtDecodeKeyBase64, jwtAlgorithms) => {
    expect(() => createTokens({ ...settings, jwtAlgorithms, jwtDecodeKeyBase64 })).toThrow('JWT_DECODE_KEY_BASE64')
  })
})
