import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadSettings } from '../../infra/config.ts'

const required = { SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'), JWT_SECRET: 'a secret of some length' }
const read = (file: string) => readFile(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')

/** What `loadSettings` says is wrong, or the empty string. */
function problemsOf(env: NodeJS.ProcessEnv): string {
  try {
    loadSettings(env)
    return ''
  } catch (error) {
    return String(error)
  }
}

const byName = (a: string, b: string) => a.localeCompare(b)

/** The variables that `loadSettings` asks for. */
function variablesRead(): string[] {
  const asked = new Set<string>()
  loadSettings(
    new Proxy<NodeJS.ProcessEnv>(required, {
      get: (env, name) => {
        if (typeof name === 'string') asked.add(name)
        return env[String(name)]
      },
    }),
  )
  // Each may also be given as a file.
  return [...asked].filter((name) => !name.endsWith('_FILE'))
}

describe('settings', () => {
  it('each have a line in .env.example, which has no other', async () => {
    const lines = (await read('.env.example')).matchAll(/^([A-Z0-9_]+)=/gm)
    const documented = [...lines].flatMap((line) => line[1] ?? []).filter((name) => name !== 'DEMO_MODEL')
    expect(documented.toSorted(byName)).toEqual(variablesRead().toSorted(byName))
    expect(documented.length).toBeGreaterThan(50)
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

  it('with weak secrets prevent the start in production, and are reported with all other problems', () => {
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

  it('with weak secrets stop the API and the worker of the image before they connect to a server', async () => {
    expect(await read('Dockerfile')).toContain('ENV NODE_ENV=production')
    const root = fileURLToPath(new URL('../..', import.meta.url))
    for (const script of ['api/server.ts', 'worker/main.ts']) {
      const env = { PATH: process.env['PATH'] ?? '', ...weak, NODE_ENV: 'production' }
      const child = spawn(process.execPath, [script], { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] })
      const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
      for (const name of secrets) expect(said).toContain(name)
      expect(code).toBe(1)
    }
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
    const rate = (text: string) => loadSettings({ ...strong, RATE_LIMIT_MAILS_ADDRESS: text }).rateLimits.mails_address
    expect(rate('')).toEqual([
      { max: 5, windowMs: 3_600_000 },
      { max: 20, windowMs: 86_400_000 },
    ])
    expect(rate('7/1d, 1/10s')).toEqual([
      { max: 1, windowMs: 10_000 },
      { max: 7, windowMs: 86_400_000 },
    ])
    expect(rate('off')).toEqual([])
    for (const wrong of ['5', '5/h', '0/1h', '5/0h', '5/1w', '-1/1h', '5/1h;6/1d', '5/1h,'])
      expect(problemsOf({ ...strong, RATE_LIMIT_MAILS_ADDRESS: wrong })).toContain('RATE_LIMIT_MAILS_ADDRESS')
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
