import { generateKeyPairSync } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { startApi } from '../../api/start-api.ts'
import { migrate } from '../../composition/migrations.ts'
import { loadSettings } from '../../infra/config.ts'
import { createLogger } from '../../infra/logger.ts'
import { startWorker } from '../../worker/start-worker.ts'
import { apiClient } from '../support/api-client.ts'
import { codeTo, mailTo } from '../support/mailbox.ts'
import { serviceEnv } from '../support/service.ts'
import { goodPassword, newEmail } from '../support/users.ts'

it('logs contain no secret, even at the level trace', async () => {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
  const lines: string[] = []
  const logger = createLogger('test', 'trace', { write: (line: string) => void lines.push(line) })
  const settings = loadSettings(
    serviceEnv({
      USERPOOL_ID: 'pool',
      USERPOOL_CLIENT_ID: 'client',
      USERPOOL_ISSUER: 'http://127.0.0.1:9',
      EXCHANGE_TOKEN_ISSUER: 'issuer',
      EXCHANGE_PRIVATE_KEY: key,
    }),
  )
  await migrate(settings, logger)
  const [api, worker] = await Promise.all([startApi(settings, logger), startWorker(settings, logger)])
  const anybody = apiClient(api.address)
  const post = (path: string, body: unknown) => anybody.call('POST', path, body)

  const email = newEmail()
  await post('/auth/signup', { email, password: goodPassword })
  const code = await codeTo(email)
  await post('/auth/verify-email', { email, code: 'a-wrong-code' })
  await post('/auth/verify-email', { email, code })
  await post('/auth/login', { email, password: 'a-wrong-password' })
  const login = await post('/auth/login', { email, password: goodPassword })
  const jwt = String(login.body.jwt_token)
  await apiClient(api.address, jwt).call('GET', '/auth/me')
  await apiClient(api.address, `${jwt}-changed`).call('GET', '/auth/me')
  await anybody.call('GET', '/auth/social/callback?code=a-secret-code&state=a-secret-state')
  // The pool is away: a 500, which is logged with everything that is known.
  expect((await apiClient(api.address, jwt).call('POST', '/auth/exchange')).status).toBe(500)
  await post('/auth/forgot-password', { email })
  const token = /token=([\w-]+)/.exec((await mailTo(email, 2)).text)?.[1] ?? ''
  await post('/auth/reset-password', { token, new_password: 'a-new-password' })
  await anybody.call('GET', `/admin/system-stats?admin_token=${settings.adminToken}`)
  const hash = (await api.infra.database.collections.users.findOne({ email }).lean())?.password_hash ?? ''
  await Promise.all([api.app.close(), worker.close()])
  await api.infra.database.connection.dropDatabase()
  await api.infra.close()
  await rm(settings.dataDir, { recursive: true, force: true })

  const log = lines.join('')
  for (const expected of ['accounts.login', 'accounts.exchange', 'request failed', 'request refused'])
    expect(log).toContain(expected)
  const secrets = {
    passwords: [goodPassword, 'a-wrong-password', 'a-new-password', hash],
    codes: [`"${code}"`, ` ${code} `, 'a-wrong-code', 'a-secret-code', 'a-secret-state'],
    tokens: [jwt, jwt.slice(jwt.lastIndexOf('.') + 1), token],
    settings: [
      settings.adminToken ?? '',
      settings.jwtSecret,
      settings.secretsKey.toString('base64'),
      key.split('\n')[3] ?? '',
    ],
  }
  for (const [name, values] of Object.entries(secrets)) {
    for (const value of values) {
      expect(value.length, name).toBeGreaterThan(5)
      expect(log, name).not.toContain(value)
    }
  }
})
