import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi } from '../../api/start-api.ts'
import { createLogger } from '../../infra/logger.ts'
import { type Answer, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { codeTo, mailTo, mailsTo } from '../support/mailbox.ts'
import { type TestService, startService } from '../support/service.ts'
import { goodPassword, insertUser, newEmail } from '../support/users.ts'

/** `RACE_TRIALS=200 npm test -- test/faults/races.test.ts` repeats each race 200 times. */
const trials = Number(process.env['RACE_TRIALS'] ?? 1)
const atOnce = 64

describe(`${atOnce} requests at once, at two API processes`, { timeout: 60_000 + trials * 60_000 }, () => {
  let service: TestService
  let second: Awaited<ReturnType<typeof startApi>>
  beforeAll(async () => {
    service = await startService({ env: { FRONTEND_URL: 'https://front.example.com/' } })
    second = await startApi({ ...service.settings, noteProblem: service.noteProblem }, createLogger('second', 'silent'))
  })
  afterAll(async () => {
    await second.app.close()
    await second.platform.close()
    await service.close()
  })

  const urlOf = (index: number) => (index % 2 === 0 ? service.url : second.address)
  const post = (path: string, body: unknown) => apiClient(service.url).call('POST', path, body)

  /** The same moment for all: half of them arrive at each API. */
  function race(request: (url: string, index: number) => Promise<Answer>): Promise<Answer[]> {
    return Promise.all(Array.from({ length: atOnce }, (_, index) => request(urlOf(index), index)))
  }
  const withStatus = (answers: Answer[], status: number) => answers.filter((answer) => answer.status === status)

  /** Prints how far a long race has come. */
  async function eachTrial(trial: () => Promise<void>): Promise<void> {
    const started = Date.now()
    const { currentTestName } = expect.getState()
    for (let done = 1; done <= trials; done++) {
      await trial()
      if (done % 25 === 0) {
        const seconds = Math.round((Date.now() - started) / 1000)
        console.log(`${done} of ${trials} trials in ${seconds} s: ${currentTestName}`)
      }
    }
  }

  async function verifiedUser(): Promise<string> {
    const email = newEmail()
    expect((await post('/auth/signup', { email, password: goodPassword })).status).toBe(200)
    expect((await post('/auth/verify-email', { email, code: await codeTo(email) })).status).toBe(200)
    return email
  }

  it('create one account for an e-mail address, with one project and one mail', () =>
    eachTrial(async () => {
      const email = newEmail()
      const answers = await race((url) =>
        apiClient(url).call('POST', '/auth/signup', { email, password: goodPassword }),
      )
      expect(withStatus(answers, 200)).toHaveLength(1)
      expect(withStatus(answers, 400)).toHaveLength(atOnce - 1)
      const { users, projects } = service.collections
      const [user, ...others] = await users.find({ email }).lean()
      expect(others).toEqual([])
      expect(await projects.countDocuments({ user_id: user?._id })).toBe(1)
      await codeTo(email)
      expect(await mailsTo(email)).toHaveLength(1)
    }))

  it('use a verification code once', () =>
    eachTrial(async () => {
      const email = newEmail()
      await post('/auth/signup', { email, password: goodPassword })
      const code = await codeTo(email)
      const answers = await race((url) => apiClient(url).call('POST', '/auth/verify-email', { email, code }))
      expect(withStatus(answers, 200)).toHaveLength(1)
      expect(withStatus(answers, 400)).toHaveLength(atOnce - 1)
      const user = await service.collections.users.findOne({ email }).lean()
      expect(user?.verified).toBe(true)
    }))

  it('count at most three wrong verification codes', () =>
    eachTrial(async () => {
      const email = newEmail()
      await post('/auth/signup', { email, password: goodPassword })
      const code = await codeTo(email)
      const wrong = code === '000000' ? '111111' : '000000'
      const answers = await race((url) => apiClient(url).call('POST', '/auth/verify-email', { email, code: wrong }))
      // 503: Temporal takes ten attempts at once, and a busy machine does not reach the others within five seconds.
      const busy = withStatus(answers, 503)
      expect(withStatus(answers, 400)).toHaveLength(atOnce - busy.length)
      const counted = answers.filter(({ body }) => String(body.detail).includes('wrong'))
      expect(counted.length).toBeLessThanOrEqual(3)
      expect(counted.length).toBeGreaterThanOrEqual(3 - busy.length)
      expect((await post('/auth/verify-email', { email, code })).status).toBe(400)
    }))

  it('use a reset token once, and set the password of the request that succeeded', () =>
    eachTrial(async () => {
      const email = await verifiedUser()
      await post('/auth/forgot-password', { email })
      const token = /token=([\w-]{43})$/m.exec((await mailTo(email, 2)).text)?.[1]
      const passwordOf = (index: number) => `new password ${index}`
      const answers = await race((url, index) =>
        apiClient(url).call('POST', '/auth/reset-password', { token, new_password: passwordOf(index) }),
      )
      expect(withStatus(answers, 200)).toHaveLength(1)
      expect(withStatus(answers, 400)).toHaveLength(atOnce - 1)
      const winner = answers.findIndex(({ status }) => status === 200)
      expect((await post('/auth/login', { email, password: passwordOf(winner) })).status).toBe(200)
      expect((await post('/auth/login', { email, password: passwordOf(winner + 1) })).status).toBe(401)
      expect(await service.collections.pendingPasswords.countDocuments({})).toBe(0)
    }))

  it('create one thread for the last place of a quota', () =>
    eachTrial(async () => {
      const user = await insertUser(service, { threadMax: 3 })
      await user.post('/threads/', {})
      await user.post('/threads/', {})
      const answers = await race((url) => apiClient(url, user.token).call('POST', '/threads/', {}))
      expect(withStatus(answers, 200)).toHaveLength(1)
      expect(withStatus(answers, 403)).toHaveLength(atOnce - 1)
      const { threads, users } = service.collections
      expect(await threads.countDocuments({ user_id: user.userId })).toBe(3)
      expect(await users.findById(user.userId).lean()).toMatchObject({ thread_counter: 3 })
    }))

  it('keep the thread count exact while threads are created and deleted', () =>
    eachTrial(async () => {
      const user = await insertUser(service, { threadMax: 8 })
      const made = await Promise.all(Array.from({ length: 8 }, () => user.post('/threads/', {})))
      const answers = await race((url, index) => {
        const client = apiClient(url, user.token)
        const doomed = made[index]
        return doomed ? client.call('DELETE', `/threads/${doomed.thread_id}`) : client.call('POST', '/threads/', {})
      })
      const { threads, users } = service.collections
      // 202: the deletion takes longer than the request waits.
      for (const { status } of answers.slice(0, 8)) expect([200, 202]).toContain(status)
      for (const { status } of answers.slice(8)) expect([200, 403]).toContain(status)
      const created = withStatus(answers.slice(8), 200).length
      expect(created).toBeLessThanOrEqual(8)
      const left = () => threads.countDocuments({ user_id: user.userId })
      await eventually('the deletions', async () => (await left()) === created, 120_000)
      expect(await users.findById(user.userId).lean()).toMatchObject({ thread_counter: created })
    }))

  it('give a public token to one assistant', () =>
    eachTrial(async () => {
      const user = await insertUser(service)
      const token = `raced-${randomUUID()}`
      const config = { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': token }
      const answers = await race((url, index) =>
        apiClient(url, user.token).call('POST', '/assistants/', { name: `A ${index}`, config }),
      )
      expect(withStatus(answers, 200)).toHaveLength(1)
      expect(withStatus(answers, 422)).toHaveLength(atOnce - 1)
      expect(await service.collections.assistants.countDocuments({ user_id: user.userId })).toBe(1)
      const found = await apiClient(second.address, token).get('/public/v1/assistants')
      expect(found.data).toMatchObject([{ id: withStatus(answers, 200)[0]?.body.assistant_id }])
    }))
})
