import { describe, expect, it } from 'vitest'
import { createLogger } from '../../infra/logger.ts'
import { freePort } from '../../local/services/ports.ts'
import { startWorker } from '../../worker/start-worker.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { startMailServer } from '../support/mail-server.ts'
import { codeTo, mailsTo } from '../support/mailbox.ts'
import { startApiProcess, startWorkerProcess } from '../support/processes.ts'
import { serviceEnv, startService } from '../support/service.ts'
import { goodPassword, newEmail } from '../support/users.ts'

describe('sign-up during outages', () => {
  it('does not wait for the mail server; the mail is sent when the server is back', async () => {
    const port = await freePort()
    const service = await startService({ env: { SMTP_URL: `smtp://127.0.0.1:${port}` } })
    const email = newEmail()
    const signup = await apiClient(service.url).call('POST', '/auth/signup', { email, password: goodPassword })
    expect(signup.status).toBe(200)
    const server = await startMailServer({ port })
    const mail = await eventually('the mail', () => server.mails[0])
    const code = /^(\d{6})\r?$/m.exec(mail)?.[1]
    expect((await apiClient(service.url).call('POST', '/auth/verify-email', { email, code })).status).toBe(200)
    await service.close()
    await server.close()
  })

  it('does not wait for a worker', async () => {
    const service = await startService({ worker: false })
    const email = newEmail()
    const signup = await apiClient(service.url).call('POST', '/auth/signup', { email, password: goodPassword })
    expect(signup.status).toBe(200)
    expect(await mailsTo(email)).toEqual([])
    const worker = await startWorker(service.settings, createLogger('test', 'silent'))
    const code = await codeTo(email)
    expect((await apiClient(service.url).call('POST', '/auth/verify-email', { email, code })).status).toBe(200)
    await worker.close()
    await service.close()
  })

  // Four processes are started one after the other; on a busy machine each takes its time.
  it('keeps code and attempts when API and worker are killed', { timeout: 180_000 }, async () => {
    const env = serviceEnv({ LOG_LEVEL: 'info' })
    const [api, worker] = await Promise.all([startApiProcess(env), startWorkerProcess(env)])
    const email = newEmail()
    const verify = (base: { url: string }, code: string) =>
      apiClient(base.url).call('POST', '/auth/verify-email', { email, code })
    await apiClient(api.url).call('POST', '/auth/signup', { email, password: goodPassword })
    const code = await codeTo(email)
    const wrong = code === '123123' ? '321321' : '123123'
    expect((await verify(api, wrong)).body.detail).toContain('attempts left: 2')
    await Promise.all([api.kill(), worker.kill()])

    const [nextApi, nextWorker] = await Promise.all([startApiProcess(env), startWorkerProcess(env)])
    const resend = await apiClient(nextApi.url).call('POST', '/auth/resend-verification', { email })
    expect(resend.status).toBe(400)
    expect((await verify(nextApi, wrong)).body.detail).toContain('attempts left: 1')
    expect((await verify(nextApi, code)).status).toBe(200)
    const login = await apiClient(nextApi.url).call('POST', '/auth/login', { email, password: goodPassword })
    expect(login.status).toBe(200)
    await Promise.all([nextApi.kill(), nextWorker.kill()])
  })
})
