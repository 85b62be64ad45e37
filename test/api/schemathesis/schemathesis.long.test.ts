import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDemoModel } from '../../../local/demo-model/server.ts'
import { createSide, documentOf } from '../../security/cross-user-requests.ts'
import { listenOnLoopback } from '../../support/http-server.ts'
import { type IdentityProvider, startIdentityProvider } from '../../support/identity-provider.ts'
import { inForm } from '../../support/long-form.ts'
import { installTimeoutMs } from '../../support/python-packages.ts'
import { type TestService, startService } from '../../support/service.ts'
import { type UserPool, startUserPool } from '../../support/user-pool.ts'
import { signUpUser } from '../../support/users.ts'
import { type Schemathesis, schemathesis } from './run.ts'

/** So many cases of each operation, without a limit of time. The short form has a limit of time. */
const longExamples = inForm({ long: process.env['SCHEMATHESIS_EXAMPLES'] ?? '50', short: undefined })
const seed = process.env['SCHEMATHESIS_SEED'] ?? '1'
const timeoutMs = longExamples === undefined ? 300_000 : 12 * 3_600_000
const guessesPasswords = new Set(['accounts.login', 'users.changePassword'])
/** Preflights take nothing. */
const bounded = ['--exclude-method', 'OPTIONS']

describe('Schemathesis', () => {
  let service: TestService
  let model: Server
  let provider: IdentityProvider
  let pool: UserPool
  let folder: string
  let tool: Schemathesis
  /** How often each operation was answered with each status. */
  const answers = new Map<string, Map<number, number>>()
  const variables: Record<string, string> = {}
  const ids: Record<string, string[]> = {}

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'schemathesis-'))
    tool = await schemathesis(folder)
    model = createDemoModel({ tokenDelayMs: 0 })
    const port = await listenOnLoopback(model)
    provider = await startIdentityProvider({ redirectUri: 'http://127.0.0.1:8100/auth/social/callback' })
    pool = await startUserPool()
    const codecToken = randomBytes(24).toString('hex')
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    service = await startService({
      onLog: (line) => count(JSON.parse(line)),
      env: {
        LOG_LEVEL: 'debug',
        OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
        OPENAI_API_KEY: 'none',
        THREAD_MAX_DEFAULT: '1000000',
        // The user's run guesses admin tokens from the address of the administrators' run.
        RATE_LIMIT_TABLE: 'admin_guesses=off',
        TEMPORAL_CODEC_KEY: randomBytes(32).toString('base64'),
        TEMPORAL_CODEC_TOKEN: codecToken,
        OAUTH_ISSUER: provider.issuer,
        OAUTH_CLIENT_ID: provider.client.id,
        OAUTH_CLIENT_SECRET: provider.client.secret,
        USERPOOL_ID: 'us-east-1_Example',
        USERPOOL_CLIENT_ID: pool.clientId,
        USERPOOL_ISSUER: pool.issuer,
        EXCHANGE_TOKEN_ISSUER: 'assistant-platform',
        EXCHANGE_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().replaceAll('\n', '\\n'),
      },
    })
    const user = await signUpUser(service)
    // What the public token opens belongs to somebody else: the user deletes what is the user's own.
    const [own, publisher] = [await createSide(service, 'own', { user }), await createSide(service, 'publisher')]
    // Theirs allow a few runs a day.
    const limits = { max_runs: 1e9, max_tokens: 1e12, max_money: 1e9 }
    await service.collections.budgets.updateMany({}, { $set: limits })
    for (const [name, id] of Object.entries(own.ids)) ids[name] = [id]
    for (const name of ['assistant_id', 'model', 'thread_id', 'run_id', 'message_id', 'step_id'] as const) {
      ids[name] = [publisher.ids[name], ...(name === 'run_id' || name === 'assistant_id' ? [own.ids[name]] : [])]
    }
    ids['run_id']?.push(publisher.ids.step_id)
    Object.assign(variables, {
      USER_EMAIL: user.email,
      USER_PASSWORD: user.password,
      PUBLIC_TOKEN: publisher.publicToken,
      CODEC_TOKEN: codecToken,
    })
  }, installTimeoutMs)
  afterAll(async () => {
    await service?.close()
    model?.close()
    await Promise.all([provider?.close(), pool?.close()])
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  function count(line: { msg?: string; operation?: string; status?: number }) {
    const { msg, operation, status } = line
    if (msg !== 'request' || operation === undefined || status === undefined) return
    const counts = answers.get(operation) ?? new Map<number, number>()
    answers.set(operation, counts.set(status, (counts.get(status) ?? 0) + 1))
    // Ten wrong passwords that it generates would lock out the tool's own logins for a quarter of an hour.
    if (guessesPasswords.has(operation)) void service.collections.loginFailures.deleteMany({}).exec()
  }

  const run = async (secondsInCi: number, credentials: Record<string, string>, options: string[]) => {
    const limits = longExamples === undefined ? [...bounded, '--max-time', String(secondsInCi)] : []
    const report = await tool.run(service.url, {
      variables: { ...variables, ...credentials },
      ids,
      examples: longExamples ?? '4',
      seed,
      options: [...options, ...limits],
    })
    // From the failures on, if there are any: a long run should say at once what it found.
    console.log(report.output.slice(report.output.search(/= (?:FAILURES|SUMMARY) =/)))
    expect(report.failures).toBe('')
  }

  it(
    'finds no fault as a user',
    // A wrong admin token: what administrators delete is not this run's to delete.
    () => run(90, { ADMIN_TOKEN: 'wrong' }, ['--exclude-tag', 'admin']),
    timeoutMs,
  )

  it(
    'finds no fault in operations of administrators, on a separate service',
    () => run(20, { ADMIN_TOKEN: String(service.env['ADMIN_TOKEN']) }, ['--include-tag', 'admin']),
    timeoutMs,
  )

  it('passed the request checks often enough: many operations succeeded', async () => {
    const names = (await documentOf(service)).filter(({ method }) => method !== 'OPTIONS').map(({ name }) => name)
    const succeeded = names.filter((name) => [...(answers.get(name)?.keys() ?? [])].some((status) => status < 400))
    const requests = [...answers.values()].flatMap((counts) => [...counts.values()]).reduce((sum, n) => sum + n, 0)
    console.log(`${requests} requests; ${succeeded.length} of ${names.length} operations succeeded`)
    console.log('never succeeded:', names.filter((name) => !succeeded.includes(name)).join(' '))
    expect(succeeded.length).toBeGreaterThan(15)
    expect(requests).toBeGreaterThan(200)
  })
})
