import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadSettings } from '../../infra/config.ts'
import { parseRedisUrl } from '../../infra/redis/address.ts'
import type { Setting } from '../../infra/settings/kinds.ts'
import { settingsIn } from '../../infra/settings/schema.ts'

const required = { SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'), JWT_SECRET: 'a secret of some length' }

/** What `loadSettings` says is wrong, or the empty string. */
function problemsOf(env: NodeJS.ProcessEnv): string {
  try {
    loadSettings(env)
    return ''
  } catch (error) {
    return String(error)
  }
}

describe('settings', () => {
  it('of every kind are refused together, each by its name, and without a value', () => {
    const all = settingsIn()
    const isAnyText = ({ expected }: Setting) => ['text', 'a comma-separated list'].includes(expected)
    const checked = all.filter((setting) => !isAnyText(setting)).map(({ env }) => env)
    const problems = problemsOf(Object.fromEntries(checked.map((name) => [name, 'hidden value: '])))
    for (const name of checked) expect(problems).toContain(`  - ${name} `)
    expect(checked.length).toBeGreaterThan(50)
    expect(problems).not.toContain('hidden')
  })

  it('name the built-in embedding model only until there is a server for embeddings', () => {
    const builtIn = (env: NodeJS.ProcessEnv) =>
      loadSettings({ ...required, BUILT_IN_EMBEDDINGS: '/model.bin', ...env }).embedding.builtIn
    const demo = { OPENAI_API_KEY: 'demo', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }
    expect(builtIn({})).toBe('/model.bin')
    expect(builtIn({ ...demo, DEMO_MODEL: 'on' })).toBe('/model.bin')
    expect(builtIn(demo)).toBeUndefined()
    expect(builtIn({ EMBEDDING_BASE_URL: 'http://127.0.0.1:1/v1' })).toBeUndefined()
  })

  it('name the login provider of the users that provisioning makes', () => {
    const SCIM_TOKEN = 'the-token-of-the-provisioning-system'
    expect(problemsOf({ ...required, SCIM_TOKEN })).toContain('SCIM_PROVIDER must name a login provider')
    const short = {
      OAUTH_ISSUER: 'https://login.example.com',
      OAUTH_CLIENT_ID: 'client',
      OAUTH_CLIENT_SECRET: 'secret',
    }
    expect(problemsOf({ ...required, ...short, SCIM_TOKEN })).toBe('')
    expect(problemsOf({ ...required, ...short, SCIM_TOKEN, SCIM_PROVIDER: 'company' })).toContain('SCIM_PROVIDER')
  })

  it('are marked as secret where their names say so', () => {
    const unmarked = settingsIn()
      .filter(({ env, isSecret }) => !isSecret && /(KEY|TOKEN|SECRET|URI|_KEY_\w+)$/.test(env))
      .map(({ env }) => env)
    expect(unmarked).toEqual(['LANCEDB_URI'])
  })

  it('have one variable each', () => {
    const names = settingsIn().map((setting) => setting.env)
    expect(new Set(names).size).toBe(names.length)
  })

  it('are optional, except two secrets', () => {
    expect(loadSettings(required)).toMatchObject({
      port: 8100,
      jwtIssuer: 'assistant-platform',
      jwtAudience: 'assistant-platform',
    })
    expect(() => loadSettings({})).toThrow(/SECRETS_KEY[^]*JWT_SECRET/)
  })

  it('report all problems at once, and never a value', () => {
    const wrong = {
      ...required,
      PORT: 'hidden-value',
      BASE_URL: 'hidden-value',
      JWT_ALGORITHM: 'hidden-value',
      CORS_ORIGINS: '*',
    }
    const problem = problemsOf(wrong)
    for (const name of ['PORT', 'BASE_URL', 'JWT_ALGORITHM', 'CORS_ORIGINS']) expect(problem).toContain(name)
    expect(problem).not.toContain('hidden-value')
  })

  it('name one Redis server, nodes of a cluster, or Sentinels', () => {
    const redis = (REDIS_URL: string) => problemsOf({ ...required, REDIS_URL })
    const right = [
      'redis://:pass%40word@host:6380/2',
      'rediss://host',
      'redis+cluster://user:password@a:6379,b,[::1]:6380',
      'rediss+sentinel://:password@a,b:26380/main',
    ]
    for (const url of right) expect(redis(url), url).toBe('')
    const wrong = [
      'host:6379',
      'http://host',
      'redis://',
      'redis://a,b',
      'redis+cluster://a,,b',
      'redis+cluster://a/1',
      'redis+sentinel://a',
      'redis+cluster://a:port',
    ]
    for (const url of wrong) expect(redis(url), url).toMatch(/REDIS_URL must be such as redis:\/\/host:6379, redis\+cl/)
    expect(parseRedisUrl(right[3] ?? '')).toEqual({
      kind: 'sentinel',
      servers: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 26_380 },
      ],
      name: 'main',
      isTls: true,
      username: '',
      password: 'password',
      database: 0,
    })
  })

  it('of the retention must be whole numbers of days or hours', () => {
    const names = [
      'RETAIN_PUBLIC_THREADS_DAYS',
      'RETAIN_PENDING_ACCOUNTS_DAYS',
      'RETAIN_WAITING_RUNS_DAYS',
      'RUN_STREAM_HOURS',
    ]
    for (const value of ['0', '-1', '1.5', 'a month', '99999999']) {
      const problem = problemsOf({ ...required, ...Object.fromEntries(names.map((name) => [name, value])) })
      for (const name of names) expect(problem).toContain(`${name} must be`)
    }
  })

  const weak = {
    ...required,
    JWT_SECRET: 'w'.repeat(31),
    ADMIN_TOKEN: 'weak-admin',
    TEMPORAL_CODEC_TOKEN: 'weak-codec',
    JWT_DECODE_KEY_BASE64: Buffer.alloc(31, 1).toString('base64'),
  }
  const secrets = ['JWT_SECRET', 'ADMIN_TOKEN', 'TEMPORAL_CODEC_TOKEN', 'JWT_DECODE_KEY_BASE64']

  it('with weak secrets prevent the start in production', () => {
    const problems = problemsOf({ ...weak, NODE_ENV: 'production', PORT: 'wrong', SECRETS_KEY: '' })
    for (const name of [...secrets, 'PORT', 'SECRETS_KEY']) expect(problems).toContain(name)
    expect(problems).not.toContain('weak-')
    const strong = Object.fromEntries(secrets.map((name) => [name, 's'.repeat(44)]))
    expect(loadSettings({ ...required, ...strong, NODE_ENV: 'production' }).warnings).toEqual([])
  })

  it('with weak secrets cause a warning outside of production, without the value', () => {
    const { warnings } = loadSettings(weak)
    expect(warnings.map((warning) => warning.split(' ')[0])).toEqual(expect.arrayContaining(secrets))
    expect(warnings).toHaveLength(secrets.length)
    expect(warnings.join()).not.toContain('weak-')
    expect(problemsOf({ ...required, JWT_SECRET: 'short' })).toContain('JWT_SECRET')
  })

  it('accept a public key of any length for tokens', () => {
    const pem = '-----BEGIN PUBLIC KEY-----'
    const env = { ...required, JWT_SECRET: 's'.repeat(32), JWT_DECODE_KEY_BASE64: Buffer.from(pem).toString('base64') }
    expect(loadSettings({ ...env, NODE_ENV: 'production' }).warnings).toEqual([])
  })

  describe('from files', () => {
    async function folder() {
      const made = await mkdtemp(path.join(tmpdir(), 'settings-'))
      onTestFinished(() => rm(made, { recursive: true }))
      const file = async (name: string, content: string) => {
        const at = path.join(made, name)
        await writeFile(at, content)
        return at
      }
      return { made, file }
    }

    it('are read like values of the environment, with the same rules', async () => {
      const { file } = await folder()
      const env = {
        NODE_ENV: 'production',
        SECRETS_KEY_FILE: await file('key', `${required.SECRETS_KEY}\n`),
        JWT_SECRET_FILE: await file('jwt', `${'s'.repeat(44)}\n`),
        MONGODB_URI_FILE: await file('mongo', 'mongodb://user:pass@db/assistants\r\n'),
        EXCHANGE_PRIVATE_KEY_FILE: await file('pem', '-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n'),
      }
      expect(loadSettings(env)).toMatchObject({
        jwtSecret: 's'.repeat(44),
        mongodbUri: 'mongodb://user:pass@db/assistants',
        exchangePrivateKey: '-----BEGIN KEY-----\nAAAA\n-----END KEY-----',
      })
      expect(problemsOf({ ...env, ADMIN_TOKEN_FILE: await file('weak', 'weak-admin') })).toContain('ADMIN_TOKEN')
    })

    it('are overridden by a value in the environment, but not by an empty one', async () => {
      const { file } = await folder()
      const env = { ...required, REDIS_URL_FILE: await file('redis', 'redis://from-file') }
      expect(loadSettings({ ...env, REDIS_URL: 'redis://from-env' }).redisUrl).toBe('redis://from-env')
      expect(loadSettings({ ...env, REDIS_URL: '' }).redisUrl).toBe('redis://from-file')
    })

    it('that are missing, empty, too large or not regular prevent the start, each reported once', async () => {
      const { made, file } = await folder()
      const large = await file('large', 'hidden-value')
      await truncate(large, 1024 * 1024 + 1)
      const problems = problemsOf({
        ...required,
        SMTP_URL_FILE: path.join(made, 'nothing-here'),
        ADMIN_TOKEN_FILE: await file('empty', ' \n'),
        REDIS_URL_FILE: made,
        MONGODB_URI_FILE: large,
      })
      for (const name of ['SMTP_URL_FILE', 'ADMIN_TOKEN_FILE', 'REDIS_URL_FILE', 'MONGODB_URI_FILE'])
        expect(problems.split(name)).toHaveLength(2)
      expect(problems).not.toContain('hidden-value')
    })
  })

  it('enable rate limits in production, and elsewhere on request', () => {
    const strong = { ...required, JWT_SECRET: 's'.repeat(44) }
    expect(loadSettings({ ...strong, NODE_ENV: 'production' }).rateLimitsOn).toBe(true)
    expect(loadSettings({ ...strong, NODE_ENV: 'production', RATE_LIMITS: 'off' }).rateLimitsOn).toBe(false)
    expect(loadSettings(strong).rateLimitsOn).toBe(false)
    expect(loadSettings({ ...strong, RATE_LIMITS: 'on' }).rateLimitsOn).toBe(true)
  })

  it('change single rate limits, and report each wrong entry by its name', () => {
    const limits = (table: string) => loadSettings({ ...required, RATE_LIMIT_TABLE: table }).rateLimits
    const day = 86_400_000
    const { mails_address: byDefault } = Object.fromEntries(limits(''))
    expect(byDefault).toEqual([
      { max: 5, windowMs: 3_600_000 },
      { max: 20, windowMs: day },
    ])
    const changed = limits('login_client=10/5m, mails_address=7/1d, 1/10s, runs_user=off')
    expect(changed.get('login_client')).toEqual([{ max: 10, windowMs: 300_000 }])
    expect(changed.get('mails_address')).toEqual([
      { max: 1, windowMs: 10_000 },
      { max: 7, windowMs: day },
    ])
    expect(changed.get('runs_user')).toEqual([])
    expect(changed.get('imports_user')).toEqual(limits('').get('imports_user'))
    for (const wrong of ['5', '5/h', '0/1h', '5/0h', '5/1w', '-1/1h', '5/1h;6/1d', '5/1h,', '=5/1h', '']) {
      const problems = problemsOf({ ...required, RATE_LIMIT_TABLE: `login_client=1/1h, mails_address=${wrong}` })
      expect(problems).toContain('RATE_LIMIT_TABLE must give mails_address a number and a window')
    }
    const several = problemsOf({
      ...required,
      RATE_LIMIT_TABLE: 'login_clint=1/1h, runs_user=x, runs_user=1/1h, runs_user=2/1h',
    })
    expect(several).toContain('names the limit login_clint, which does not exist')
    expect(several).toContain('must give runs_user')
    expect(several).toContain('names the limit runs_user twice')
    expect(problemsOf({ ...required, RATE_LIMIT_TABLE: '20/1h' })).toContain('must have entries such as')
  })

  it('accept proxies by address, not by number and not all', () => {
    const proxies = '10.0.0.0/8, 2001:db8::1, loopback'
    expect(loadSettings({ ...required, TRUST_PROXY: proxies }).trustProxy).toEqual(proxies.split(', '))
    expect(loadSettings(required).trustProxy).toEqual([])
    for (const wrong of ['1', 'true', '*', 'proxy.example.com', '10.0.0.0/33'])
      expect(problemsOf({ ...required, TRUST_PROXY: wrong })).toContain('TRUST_PROXY')
  })

  it('keep the trailing slash of an issuer, and remove it from other addresses', () => {
    const settings = loadSettings({
      ...required,
      OAUTH_ISSUER: 'https://idp.example.com/o/app/',
      FRONTEND_URL: 'https://front.example.com/',
    })
    expect(settings.oauthIssuer).toBe('https://idp.example.com/o/app/')
    expect(settings.frontendUrl).toBe('https://front.example.com')
  })

  it('accept a model server without a key, and send it a placeholder', () => {
    const keyless = loadSettings({ ...required, OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' })
    expect(keyless.openaiApiKey).toBe('none')
    expect(loadSettings(required).openaiApiKey).toBeUndefined()
  })

  it("default to the service's own pages as front end", () => {
    expect(loadSettings({ ...required, BASE_URL: 'https://assistants.example.com' }).frontendUrl).toBe(
      'https://assistants.example.com',
    )
  })
})
