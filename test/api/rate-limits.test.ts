import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rateLimits } from '../../domain/rate-limits.ts'
import { createRateCounter } from '../../infra/redis/rate-counter.ts'
import { prepareRedis, startRedis } from '../../local/services/redis.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { conversation } from '../runs/support.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { type RunningService, type TestService, startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser, newEmail } from '../support/users.ts'

/** The API as a client at this address sees it, behind a proxy. */
function from({ url }: { url: string }, address: string, token?: string): Pick<ApiClient, 'call'> {
  const client = apiClient(url, token)
  return {
    call: (method, path, body, headers) => client.call(method, path, body, { 'x-forwarded-for': address, ...headers }),
  }
}

/** The statuses of so many requests, one after the other. */
async function statuses(count: number, request: () => Promise<{ status: number }>): Promise<number[]> {
  const seen: number[] = []
  for (let i = 0; i < count; i++) seen.push((await request()).status)
  return seen
}

/** A busy machine counts late, and what it then counts in its own memory is no part of the limit. */
const patient = { rateCountMs: 15_000 }

describe('rate limits', () => {
  const service = useModelService({
    respond: () => ({ text: 'Hi' }),
    env: {
      RATE_LIMITS: 'on',
      TRUST_PROXY: '127.0.0.1',
      RATE_LIMIT_TABLE: `login_client=3/1h, login_address=5/1h, signup_client=2/1h, verify_address=2/1h,
        mails_address=2/1h,3/1d, public_client=5/1h, public_runs_token=3/1h, public_runs_assistant=2/1h,
        runs_user=2/1h, admin_client=4/1h, public_kilobytes_assistant=300/1h`,
    },
    settings: patient,
  })

  it('count by client, before the body is validated, and send Retry-After', async () => {
    const wrong = { email: 'not an address' }
    const one = from(service, '192.0.2.1')
    expect(await statuses(3, () => one.call('POST', '/auth/login', wrong))).toEqual([422, 422, 422])
    const refused = await one.call('POST', '/auth/login', wrong)
    expect(refused.status).toBe(429)
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(3500)
    expect(seconds).toBeLessThanOrEqual(3600)
    expect(refused.body).toEqual({ detail: `Too many requests; try again in ${seconds} seconds.` })
    expect((await from(service, '192.0.2.2').call('POST', '/auth/login', wrong)).status).toBe(422)
    // Another route has a limit of its own.
    expect((await one.call('POST', '/auth/signup', wrong)).status).toBe(422)
  })

  it('count by e-mail address, from any client and in any spelling', async () => {
    const email = newEmail()
    const clients = Array.from({ length: 6 }, (_, i) => from(service, `198.51.100.${i}`))
    const answers = await Promise.all(
      clients.map((client, i) =>
        client.call('POST', '/auth/login', { email: i % 2 ? email : email.toUpperCase(), password: 'wrong wrong' }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([401, 401, 401, 401, 401, 429])
    const code = () => from(service, '198.51.100.9').call('POST', '/auth/verify-email', { email, code: '000000' })
    expect(await statuses(3, code)).toEqual([400, 400, 429])
  })

  it('limit the mails to one address', async () => {
    const user = await insertUser(service)
    const ask = (email: string, i = 0) =>
      from(service, `203.0.113.${i}`).call('POST', '/auth/forgot-password', { email })
    expect(await statuses(4, () => ask(user.email))).toEqual([200, 200, 429, 429])
    // Signing up, asking for a code and inviting are mails, too.
    for (const path of ['/auth/signup', '/auth/resend-verification']) {
      const body = { email: user.email, password: 'correct horse battery' }
      expect((await from(service, '203.0.113.1').call('POST', path, body)).status).toBe(429)
    }
    const other = await insertUser(service)
    const invitation = { email: user.email, role: 'viewer' }
    expect((await other.call('POST', `/projects/${other.projectId}/members`, invitation)).status).toBe(429)
    expect((await ask(other.email)).status).toBe(200)
    // An hour later one is left of the day; what the hour refused did not count.
    await endWindows(service, 'mails_address:3600000')
    expect((await ask(user.email, 2)).status).toBe(200)
    const refused = await ask(user.email, 3)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(23 * 3600)
  })

  it('store no address and no token in Redis', async () => {
    const keys = await service.redis.keys(`${service.settings.taskQueuePrefix}rate:*`)
    expect(keys.length).toBeGreaterThan(3)
    expect(keys.filter((key) => /192\.0\.2|example\.com|pub-/.test(key))).toEqual([])
  })

  const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

  it('limit public runs by assistant, and all public requests by client', async () => {
    const [one, other] = [await newPublicAssistant(service), await newPublicAssistant(service)]
    const complete = ({ token }: { token: string }, address: string) =>
      from(service, address, token).call('POST', '/public/v1/chat/completions', chat)
    expect((await complete(one, '192.0.2.20')).status).toBe(200)
    const native = await from(service, '192.0.2.21').call('POST', '/public/runs/stream', {
      assistant_id: one.id,
      token: one.token,
      input: [{ type: 'human', content: 'Hi' }],
    })
    expect(native.status).toBe(200)
    const refused = await complete(one, '192.0.2.22')
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({ detail: expect.any(String), error: { type: 'rate_limit_error' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await complete(other, '192.0.2.22')).status).toBe(200)
    // Guesses of tokens and preflights count for the client.
    const guess = () => from(service, '192.0.2.30', 'wrong').call('GET', '/public/compat/v1/models')
    expect(await statuses(4, guess)).toEqual([401, 401, 401, 401])
    expect((await from(service, '192.0.2.30').call('OPTIONS', '/public/v1/models')).status).toBe(200)
    expect((await guess()).status).toBe(429)
    expect((await from(service, '192.0.2.30').call('GET', '/ok')).status).toBe(200)
  })

  it('limit what public callers of an assistant have stored, without counting what is refused', async () => {
    const [one, other] = [await newPublicAssistant(service), await newPublicAssistant(service)]
    const long = 'x'.repeat(200_000)
    const post = ({ token }: { token: string }, path: string, body: unknown, address: string) =>
      from(service, address, token).call('POST', `/public/v1${path}`, body)
    const begin = (assistant: { token: string }, address: string) =>
      post(assistant, '/threads', { messages: [{ role: 'user', content: long }] }, address)
    const begun = await begin(one, '192.0.2.40')
    expect(begun.status).toBe(200)
    const refused = await begin(one, '192.0.2.40')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
    const messages = `/threads/${begun.body.id}/messages`
    const say = (content: string) => post(one, messages, { role: 'user', content }, '192.0.2.41')
    expect((await say(long)).status).toBe(429)
    expect((await say('x'.repeat(90_000))).status).toBe(200)
    const asked = { ...chat, messages: [{ role: 'user', content: 'x'.repeat(20_000) }] }
    expect((await post(one, '/chat/completions', asked, '192.0.2.42')).status).toBe(429)
    // What is counted, and then refused for another reason, is given back.
    const { user_id: userId } = await other.owner.get('/user/')
    const limitTo = (change: object) => service.collections.users.updateOne({ _id: String(userId) }, change)
    await limitTo({ $set: { storage_max_mb: 0 } })
    const large = { ...chat, messages: [{ role: 'user', content: long }] }
    expect((await post(other, '/chat/completions', large, '192.0.2.43')).status).toBe(413)
    await limitTo({ $unset: { storage_max_mb: 1 } })
    expect((await begin(other, '192.0.2.43')).status).toBe(200)
  })

  it("limit a user's runs before they are started, and nobody else's", async () => {
    const [one, bystander] = [await conversation(service), await conversation(service)]
    expect((await one.stream('1')).status).toBe(200)
    await one.start('2')
    for (const path of ['/runs/', '/runs/stream']) {
      expect((await one.client.call('POST', path, one.payload('3'))).status).toBe(429)
    }
    expect(await service.collections.runs.countDocuments({ thread_id: one.threadId })).toBe(2)
    expect((await bystander.stream('1')).status).toBe(200)
    expect((await one.client.call('GET', `/threads/${one.threadId}`)).status).toBe(200)
  })

  it('limit requests to /admin by client', async () => {
    const stats = () =>
      from(service, '192.0.2.40').call('GET', `/admin/system-stats?admin_token=${service.settings.adminToken}`)
    expect(await statuses(5, stats)).toEqual([200, 200, 200, 200, 429])
  })
})

describe('routes that answer without a token', () => {
  let service: TestService
  beforeAll(async () => {
    const names = Object.keys(rateLimits).filter((name) => name.endsWith('_client'))
    const table = names.map((name) => `${name}=1/1h`).join()
    service = await startService({
      worker: false,
      env: { RATE_LIMIT_TABLE: table, RATE_LIMITS: 'on', TRUST_PROXY: '127.0.0.1' },
      settings: patient,
    })
  })
  afterAll(() => service.close())

  it('are limited by client, each of them', async () => {
    const document = (await apiClient(service.url).call('GET', '/openapi.json')).body
    const anonymous = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
      Object.entries<any>(methods)
        .filter(([, { security = [] }]) => security.length === 0 || security.some(isEmpty))
        .map(([method]): [string, string] => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')]),
    )
    // The codec has a token, which may be in the path.
    const open = anonymous.filter(([, path]) => !path.startsWith('/codec/'))
    expect(open.length).toBeGreaterThan(40)
    const pages = [
      '/openapi.json',
      '/docs',
      '/docs/start.js',
      '/docs/static/swagger-ui.css',
      '/redoc',
      '/',
      '/console/chat',
    ]
    const others = ['/icon.svg', '/embed.js', '/console-assets/x.js', '/console-settings.json', '/nowhere']
    open.push(...[...pages, ...others].map((path): [string, string] => ['GET', path]), ['OPTIONS', '/threads/'])
    for (const [index, [method, path]] of open.entries()) {
      const client = from(service, `198.18.${index >> 8}.${index & 255}`)
      const body = method === 'GET' || method === 'OPTIONS' ? undefined : {}
      const first = await client.call(method, path, body)
      expect([method, path, first.status === 429]).toEqual([method, path, false])
      // While Redis is slow, a request may be counted in the process.
      await eventually(
        `the limit of ${method} ${path}`,
        async () => (await client.call(method, path, body)).status === 429,
      )
    }
  })

  it('do not count what a user asks for', async () => {
    const user = await insertUser(service)
    const { assistant_id: id } = await user.post('/assistants/', { name: 'a' })
    const client = from(service, '198.19.0.1', user.token)
    expect(await statuses(3, () => client.call('GET', `/assistants/${id}`))).toEqual([200, 200, 200])
  })
})

const isEmpty = (requirement: object) => Object.keys(requirement).length === 0

describe('without RATE_LIMITS', () => {
  const service = useStarted(() =>
    startService({
      worker: false,
      env: { RATE_LIMIT_TABLE: 'login_client=1/1h, admin_guesses=3/1h', TRUST_PROXY: '127.0.0.1' },
      settings: patient,
    }),
  )

  it('nothing is limited', async () => {
    const login = () => from(service, '192.0.2.1').call('POST', '/auth/login', {})
    expect(await statuses(3, login)).toEqual([422, 422, 422])
  })

  it('wrong admin tokens are limited; then the right one is refused too', async () => {
    const ask = (token: string | undefined, address = '192.0.2.50') =>
      from(service, address).call('GET', '/admin/system-stats', undefined, token ? { 'x-admin-token': token } : {})
    const right = service.settings.adminToken
    expect(await statuses(5, () => ask(undefined))).toEqual([401, 401, 401, 401, 401])
    expect((await ask(right)).status).toBe(200)
    expect(await statuses(5, () => ask('wrong'))).toEqual([401, 401, 401, 429, 429])
    const refused = await ask(right)
    expect([refused.status, typeof refused.body.detail]).toEqual([429, 'string'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500)
    expect((await ask(right, '192.0.2.51')).status).toBe(200)
  })

  it('X-Forwarded-For of an untrusted client is ignored', async () => {
    const direct = await startService({
      worker: false,
      env: { RATE_LIMITS: 'on', RATE_LIMIT_TABLE: 'login_client=2/1h' },
      settings: patient,
    })
    let claimed = 0
    const login = () => from(direct, `192.0.2.${claimed++}`).call('POST', '/auth/login', {})
    expect(await statuses(3, login)).toEqual([422, 422, 429])
    await direct.close()
  })
})

describe('while Redis is unreachable', () => {
  it('each process counts in its own memory, and the limits still apply', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'assistant-redis-'))
    const server = (await prepareRedis(() => undefined)).value
    const redis = await startRedis({ server, dataDir })
    const service = await startService({
      worker: false,
      env: { REDIS_URL: redis.url, RATE_LIMITS: 'on', RATE_LIMIT_TABLE: 'login_client=2/1h' },
    })
    const login = () => apiClient(service.url).call('POST', '/auth/login', {})
    expect(await statuses(1, login)).toEqual([422])
    // Stopped, it takes connections and does not answer; killed, it takes none.
    process.kill(redis.pid, 'SIGSTOP')
    expect(await statuses(3, login)).toEqual([422, 422, 429])
    process.kill(redis.pid, 'SIGKILL')
    expect((await login()).status).toBe(429)
    await service.close()
    await redis.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  it('many different keys do not fill the memory of the process', async () => {
    const counter = createRateCounter({ at: () => Promise.reject(new Error('away')) }, '', 250)
    await counter.hit('first', 60_000)
    expect(await counter.hit('first', 60_000)).toMatchObject({ current: 2 })
    for (let i = 0; i < 10_000; i++) await counter.hit(`key ${i}`, 60_000)
    expect(await counter.read('first')).toEqual({ current: 0, ttl: 0 })
    expect(await counter.read('key 9999')).toMatchObject({ current: 1 })
  })
})

/** Ends all open windows of a limit, as their time does. */
async function endWindows(service: RunningService, name: string): Promise<void> {
  const keys = await service.redis.keys(`${service.settings.taskQueuePrefix}rate:${name}:*`)
  expect(keys.length).toBeGreaterThan(0)
  await service.redis.del(keys)
}
