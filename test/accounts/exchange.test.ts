import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, importSPKI, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { type TestService, serviceEnv, startService } from '../support/service.ts'
import { type UserPool, startUserPool } from '../support/user-pool.ts'
import { newEmail, signUpUser } from '../support/users.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString()

describe('user-pool exchange', () => {
  let pool: UserPool
  let service: TestService
  let env: Record<string, string>
  beforeAll(async () => {
    pool = await startUserPool()
    env = {
      USERPOOL_ID: 'us-east-1_Example',
      USERPOOL_CLIENT_ID: pool.clientId,
      USERPOOL_ISSUER: pool.issuer,
      EXCHANGE_TOKEN_ISSUER: 'assistant-platform',
      EXCHANGE_PRIVATE_KEY: privatePem.replaceAll('\n', '\\n'),
    }
    service = await startService({ env })
  })
  afterAll(async () => {
    await service.close()
    await pool.close()
  })

  const exchange = (token?: string, base: { url: string } = service) =>
    apiClient(base.url, token).call('POST', '/auth/exchange', undefined, { 'accept-language': 'de' })
  const identity = () => ({ sub: randomUUID(), email: newEmail() })

  it('gives an RS256 service token of one hour', async () => {
    const person = identity()
    const answer = await exchange(await pool.idToken({ ...person, email: person.email.toUpperCase() }))
    expect(answer.status).toBe(200)
    const token = answer.body.token
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256' })
    const { payload } = await jwtVerify(token, await importSPKI(publicPem, 'RS256'))
    expect(payload).toMatchObject({ iss: 'assistant-platform', aud: 'assistant-platform', email: person.email })
    expect(Number(payload.exp) - Number(payload.iat)).toBe(3600)
    const user = await service.collections.users.findOne({ email: person.email }).lean()
    expect(user).toMatchObject({ _id: payload['user_id'], provider: 'userpool', language: 'de', verified: true })
    const project = await service.collections.projects.findById(payload['project_id']).lean()
    expect(project).toMatchObject({ user_id: payload['user_id'], name: 'main' })
    // This service does not name RS256 among its algorithms.
    expect((await apiClient(service.url, token).call('GET', '/auth/me')).status).toBe(401)
  })

  it('creates one user for twenty simultaneous exchanges, and identifies users by subject when the e-mail address changes', async () => {
    const person = identity()
    const idToken = await pool.idToken(person)
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(idToken)))
    const users = new Set(answers.map((answer) => decodeJwt(answer.body.token)['user_id']))
    expect(users.size).toBe(1)
    const moved = await exchange(await pool.idToken({ ...person, email: newEmail() }))
    expect(users).toContain(decodeJwt(moved.body.token)['user_id'])
  })

  it('returns 409 for another subject with the e-mail address of an account, also for simultaneous requests', async () => {
    const person = identity()
    const { body } = await exchange(await pool.idToken(person))
    const next = await pool.idToken({ ...person, sub: randomUUID() })
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(next)))
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('another identity') } })
    }
    const again = await exchange(await pool.idToken(person))
    expect(decodeJwt(again.body.token)['user_id']).toBe(decodeJwt(body.token)['user_id'])
  })

  it('binds an account without a subject to the first subject with its e-mail address', async () => {
    const person = identity()
    await exchange(await pool.idToken(person))
    await service.collections.users.updateOne({ email: person.email }, { $unset: { subject: 1 } })
    const subjects = [person.sub, ...Array.from({ length: 4 }, () => randomUUID())]
    const tokens = await Promise.all(subjects.map((sub) => pool.idToken({ ...person, sub })))
    const answers = await Promise.all(tokens.map((token) => exchange(token)))
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409])
    const winner = subjects[answers.findIndex((answer) => answer.status === 200)]
    const user = await service.collections.users.findOne({ email: person.email }).lean()
    expect(user?.subject).toBe(`${pool.issuer}|${winner}`)
  })

  it('identifies users whether or not the issuer in the setting has a trailing slash', async () => {
    const person = identity()
    const { body } = await exchange(await pool.idToken(person))
    const token = await pool.idToken(person)
    const answers = [
      await exchange(token),
      await withSettings({ USERPOOL_ISSUER: `${pool.issuer}/` }, (base) => exchange(token, base)),
    ]
    const [first, second] = answers.map((answer) => decodeJwt(answer.body.token)['user_id'])
    expect([first, second]).toEqual(Array.from({ length: 2 }, () => decodeJwt(body.token)['user_id']))
  })

  it('accepts an e-mail address without the claim email_verified, and refuses any value other than true', async () => {
    for (const verified of [true, 'true'])
      expect((await exchange(await pool.idToken({ ...identity(), email_verified: verified }))).status).toBe(200)
    for (const verified of [false, 'false', 'no', 0, null])
      expect((await exchange(await pool.idToken({ ...identity(), email_verified: verified }))).status).toBe(401)
  })

  it('accepts a rotated key at once, and caches the keys', async () => {
    expect((await exchange(await pool.idToken(identity()))).status).toBe(200)
    const reads = pool.keyReads()
    expect((await exchange(await pool.idToken(identity()))).status).toBe(200)
    expect(pool.keyReads()).toBe(reads)
    const old = await pool.idToken(identity())
    await pool.rotate('key-2')
    expect((await exchange(await pool.idToken(identity()))).status).toBe(200)
    expect(pool.keyReads()).toBe(reads + 1)
    expect((await exchange(old)).status).toBe(401)
  })

  it('refuses other tokens', async () => {
    const person = identity()
    const foreign = await startUserPool()
    const bad = {
      nothing: undefined,
      nonsense: 'nonsense',
      'a service token': (await signUpUser(service)).token,
      'another issuer': await pool.idToken(person, { iss: 'https://elsewhere.example.com/pool' }),
      'another client': await pool.idToken(person, { aud: 'another-client' }),
      expired: await pool.idToken(person, { expires: '-1s' }),
      'no key id': await pool.idToken(person, { kid: '' }),
      'an unknown key': await pool.idToken(person, { kid: 'unknown' }),
      'a foreign key under our key id': await foreign.idToken(person, { iss: pool.issuer, kid: 'key-2' }),
      'an access token': await pool.idToken({ ...person, token_use: 'access' }),
      'no e-mail': await pool.idToken({ sub: person.sub }),
      'an e-mail that is not verified': await pool.idToken({ ...person, email_verified: false }),
    }
    await foreign.close()
    const statuses: Record<string, number> = {}
    for (const [name, token] of Object.entries(bad)) statuses[name] = (await exchange(token)).status
    expect(statuses).toEqual(Object.fromEntries(Object.keys(bad).map((name) => [name, 401])))
    expect(await service.collections.users.exists({ email: person.email })).toBeNull()
  })

  it('returns 409 for the e-mail address of an account of another provider', async () => {
    const { email, userId } = await signUpUser(service)
    const answer = await exchange(await pool.idToken({ sub: randomUUID(), email }))
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('password') } })
    expect(await service.collections.users.findOne({ email }).lean()).toMatchObject({ _id: userId, provider: 'email' })
  })

  /** A second API on the same database, with other settings. */
  async function withSettings<T>(
    changes: Record<string, string>,
    work: (base: { url: string }) => Promise<T>,
  ): Promise<T> {
    const other = await startService({ worker: false, env: { ...serviceEnv(), ...service.env, ...changes } })
    try {
      return await work(other)
    } finally {
      await other.api.close()
    }
  }

  it.each(['USERPOOL_ID', 'USERPOOL_CLIENT_ID', 'EXCHANGE_TOKEN_ISSUER', 'EXCHANGE_PRIVATE_KEY'])(
    'names %s when it is missing',
    async (name) => {
      const token = await pool.idToken(identity())
      const answer = await withSettings({ [name]: '' }, (base) => exchange(token, base))
      expect(answer).toMatchObject({ status: 500, body: { detail: expect.stringContaining(name) } })
    },
  )

  it('returns an error that names an invalid key, and another when the pool does not answer', async () => {
    const token = await pool.idToken(identity())
    const badKey = await withSettings({ EXCHANGE_PRIVATE_KEY: publicPem }, (base) => exchange(token, base))
    expect(badKey).toMatchObject({ status: 500, body: { detail: expect.stringContaining('EXCHANGE_PRIVATE_KEY') } })
    const away = await withSettings({ USERPOOL_ISSUER: 'http://127.0.0.1:9/pool' }, (base) => exchange(token, base))
    expect(away.status).toBe(500)
  })

  it('issues a token that the API accepts if key and algorithm are configured', async () => {
    const person = identity()
    const settings = {
      JWT_ALGORITHM: 'HS256,RS256',
      JWT_DECODE_KEY_BASE64: Buffer.from(publicPem).toString('base64'),
      EXCHANGE_TOKEN_AUDIENCE: 'assistant-platform',
    }
    await withSettings(settings, async (base) => {
      const { body } = await exchange(await pool.idToken(person), base)
      const client = apiClient(base.url, body.token)
      expect((await client.call('GET', '/auth/me')).body).toMatchObject({ email: person.email })
      expect((await client.call('GET', '/threads/')).status).toBe(200)
      const { token } = await signUpUser(service)
      expect((await apiClient(base.url, token).call('GET', '/auth/me')).status).toBe(200)
    })
  })
})
