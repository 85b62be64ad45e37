import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { emailVerificationContract } from '../../domain/contracts/email-verification.ts'
import { AppError } from '../../domain/errors.ts'
import { loginProviders } from '../../domain/login-providers.ts'
import { createPasswords } from '../../services/accounts/passwords.ts'
import { createSignup } from '../../services/accounts/signup.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { codeTo, mailTo, mailsTo } from '../support/mailbox.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { goodPassword, newEmail, signUpUser } from '../support/users.ts'

describe('sign-up to first login', () => {
  const service = useStarted(() => startService({ env: { THREAD_MAX_DEFAULT: '7' } }))

  const post = (path: string, body: unknown) => apiClient(service.url).call('POST', path, body)

  it('leads from sign-up over verification to login', async () => {
    const email = newEmail()
    const signup = await post('/auth/signup', { email: email.toUpperCase(), password: goodPassword, first_name: 'Ada' })
    expect(signup.status).toBe(200)
    expect(signup.body).toMatchObject({
      email,
      provider: 'email',
      first_name: 'Ada',
      last_name: null,
      verified: false,
      thread_max: 7,
    })
    expect(signup.body).not.toHaveProperty('jwt_token')
    const userId = signup.body.user_id

    const early = await post('/auth/login', { email, password: goodPassword })
    expect(early).toMatchObject({ status: 401, body: { detail: expect.stringContaining('not verified') } })

    const code = await codeTo(email)
    const status = await apiClient(service.url).call('GET', `/auth/verification-status/${encodeURIComponent(email)}`)
    expect(status.body).toMatchObject({ email, verified: false, pending: true, attempts_remaining: 3 })
    expect((await post('/auth/verify-email', { email, code })).status).toBe(200)

    const login = await post('/auth/login', { email: email.toUpperCase(), password: goodPassword })
    expect(login.status).toBe(200)
    const claims = decodeJwt(login.body.jwt_token)
    expect(claims).toMatchObject({ user_id: userId, iss: 'assistant-platform', aud: 'assistant-platform' })
    expect(claims).not.toHaveProperty('email')
    const lifetime = Number(claims.exp) - Date.now() / 1000
    expect(lifetime / 86_400).toBeCloseTo(30, 1)
    const project = await service.collections.projects.findById(claims['project_id']).lean()
    expect(project).toMatchObject({ user_id: userId, name: 'main' })
    expect(await service.collections.assistants.findById(login.body.main_agent_id).lean()).toMatchObject({
      user_id: userId,
    })
    expect(await service.collections.threads.findById(login.body.main_thread_id).lean()).toMatchObject({
      user_id: userId,
    })

    const client = apiClient(service.url, login.body.jwt_token)
    for (const path of ['/auth/user-info', '/auth/me', '/user/']) {
      expect((await client.call('GET', path)).body).toMatchObject({
        user_id: userId,
        email,
        verified: true,
      })
    }
    expect((await client.call('GET', '/auth/thread-info')).body).toEqual({
      thread_counter: 1,
      thread_max: 7,
    })
    expect((await apiClient(service.url).call('GET', '/auth/me')).status).toBe(401)

    const again = await post('/auth/login', { email, password: goodPassword })
    expect(again.body).toMatchObject({
      main_agent_id: login.body.main_agent_id,
      main_thread_id: login.body.main_thread_id,
    })
  })

  it('mails in the language of the sign-up, or else of the request', async () => {
    const languages = { 'accept-language': 'it, de-CH;q=0.9, en;q=0.8' }
    const signUp = (email: string, more: object = {}) =>
      apiClient(service.url).call('POST', '/auth/signup', { email, password: goodPassword, ...more }, languages)
    const german = newEmail()
    expect((await signUp(german)).body).toMatchObject({ language: 'de' })
    const mail = await mailTo(german)
    expect(mail.subject).toBe('Dein Bestätigungscode')
    expect(mail.text).toContain('Er gilt 15 Minuten lang.')
    expect(mail.html).toContain('<html lang="de">')
    const code = await codeTo(german)
    expect((await post('/auth/verify-email', { email: german, code })).status).toBe(200)

    const english = newEmail()
    expect((await signUp(english, { language: 'en' })).body).toMatchObject({ language: 'en' })
    expect((await mailTo(english)).subject).toBe('Your verification code')
    expect((await signUp(newEmail(), { language: 'it' })).status).toBe(422)
    const unknown = await post('/auth/signup', { email: newEmail(), password: goodPassword })
    expect(unknown.body).not.toHaveProperty('language')
  })

  it('invalidates a code after the third wrong attempt', async () => {
    const email = newEmail()
    await post('/auth/signup', { email, password: goodPassword })
    const code = await codeTo(email)
    for (const wrong of ['000000', 'nonsense', '']) {
      const answer = await post('/auth/verify-email', { email, code: wrong === code ? '111111' : wrong })
      expect(answer.status).toBe(400)
    }
    expect((await post('/auth/verify-email', { email, code })).status).toBe(400)
    const status = await apiClient(service.url).call('GET', `/auth/verification-status/${email}`)
    expect(status.body).toMatchObject({ verified: false, pending: true, attempts_remaining: 0 })
  })

  it('counts at most three attempts of ten simultaneous verifications', async () => {
    const email = newEmail()
    await post('/auth/signup', { email, password: goodPassword })
    const code = await codeTo(email)
    const wrong = code === '000000' ? '111111' : '000000'
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post('/auth/verify-email', { email, code: wrong })),
    )
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 10 }, () => 400))
    const used = answers.filter((answer) => answer.body.detail.includes('wrong'))
    expect(used).toHaveLength(3)
    expect((await post('/auth/verify-email', { email, code })).status).toBe(400)
  })

  it('accepts one of 64 simultaneous correct verifications, and answers the others that the address is already verified', async () => {
    for (let round = 0; round < 3; round++) {
      const email = newEmail()
      await post('/auth/signup', { email, password: goodPassword })
      const code = await codeTo(email)
      const answers = await Promise.all(Array.from({ length: 64 }, () => post('/auth/verify-email', { email, code })))
      const refused = answers.filter((answer) => answer.status === 400)
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
      expect(refused).toHaveLength(63)
      for (const answer of refused) expect(answer.body.detail).toContain('already verified')
      expect((await post('/auth/login', { email, password: goodPassword })).status).toBe(200)
    }
  })

  it('sends no second code within a minute, and none to unknown or verified addresses', async () => {
    const email = newEmail()
    await post('/auth/signup', { email, password: goodPassword })
    const code = await codeTo(email)
    const answers = await Promise.all(Array.from({ length: 5 }, () => post('/auth/resend-verification', { email })))
    expect(answers.map((answer) => answer.status)).toEqual([400, 400, 400, 400, 400])
    expect((await post('/auth/verify-email', { email, code })).status).toBe(200)
    expect((await post('/auth/resend-verification', { email })).status).toBe(400)
    expect((await post('/auth/verify-email', { email, code })).status).toBe(400)
    expect((await post('/auth/resend-verification', { email: newEmail() })).status).toBe(404)
    expect((await post('/auth/verify-email', { email: newEmail(), code })).status).toBe(400)
    expect(await mailsTo(email)).toHaveLength(1)
  })

  it('sends one new code for five simultaneous requests after the workflow has ended, and invalidates the old one', async () => {
    const email = newEmail()
    const { body } = await post('/auth/signup', { email, password: goodPassword })
    const first = await codeTo(email)
    const handle = service.temporal.workflow.getHandle(emailVerificationContract.id({ userId: body.user_id }))
    await eventually('both activities of the first code', async () => {
      const { events } = await handle.fetchHistory()
      return events?.filter((event) => event.activityTaskCompletedEventAttributes).length === 2
    })
    await handle.terminate()
    expect((await post('/auth/verify-email', { email, code: first })).status).toBe(400)
    expect((await post('/auth/resend-verification', { email })).status).toBe(400)

    const aMinuteAgo = new Date(Date.now() - 60_000)
    await service.collections.users.updateOne({ email }, { $set: { 'verification.sent_at': aMinuteAgo } })
    const wishes = await Promise.all(Array.from({ length: 5 }, () => post('/auth/resend-verification', { email })))
    expect(wishes.map((wish) => wish.status).toSorted((a, b) => a - b)).toEqual([200, 400, 400, 400, 400])
    const second = await codeTo(email, 2)
    expect((await post('/auth/verify-email', { email, code: first })).status).toBe(first === second ? 200 : 400)
    expect((await post('/auth/verify-email', { email, code: second })).status).toBe(first === second ? 400 : 200)
    expect(await mailsTo(email)).toHaveLength(2)
  })

  it('removes the account again if the verification workflow cannot be started', async () => {
    const email = newEmail()
    const { collections } = service
    const passwords = createPasswords()
    const { signup } = createSignup({
      collections,
      passwords,
      homes: service.api.services.accounts.homes,
      workflows: { start: () => Promise.reject(new AppError('unavailable', 'away')) },
      threadMaxDefault: 1,
      providers: loginProviders([]),
    })
    await expect(signup({ email, password: goodPassword })).rejects.toMatchObject({ code: 'unavailable' })
    expect(await collections.users.exists({ email })).toBeNull()
    expect((await post('/auth/signup', { email, password: goodPassword })).status).toBe(200)
  })

  it('allows login when the thread quota leaves no room for a default thread', async () => {
    const user = await signUpUser(service)
    const { threads, users } = service.collections
    const login = () => post('/auth/login', { email: user.email, password: user.password })
    const other = await user.call('POST', '/threads/', { name: 'other' })
    await threads.deleteOne({ _id: user.threadId })
    await users.updateOne({ _id: user.userId }, { $set: { thread_max: 1, thread_counter: 1 } })
    expect((await login()).body.main_thread_id).toBe(other.body.thread_id)
    await threads.deleteOne({ _id: other.body.thread_id })
    expect(await login()).toMatchObject({ status: 200, body: { main_thread_id: '' } })
  })

  it('creates one account for twenty simultaneous sign-ups', async () => {
    const email = newEmail()
    const spellings = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? email : email.toUpperCase()))
    const answers = await Promise.all(
      spellings.map((address) => post('/auth/signup', { email: address, password: goodPassword })),
    )
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 400)).toHaveLength(19)
    const users = await service.collections.users.find({ email }).lean()
    expect(users).toHaveLength(1)
    expect(await service.collections.projects.countDocuments({ user_id: users[0]?._id })).toBe(1)
    await codeTo(email)
    expect(await mailsTo(email)).toHaveLength(1)
  })

  it('creates one default project, assistant and thread for twenty simultaneous first logins, and creates them again after their deletion', async () => {
    const email = newEmail()
    const { body } = await post('/auth/signup', { email, password: goodPassword })
    await post('/auth/verify-email', { email, code: await codeTo(email) })
    const logins = await Promise.all(
      Array.from({ length: 20 }, () => post('/auth/login', { email, password: goodPassword })),
    )
    expect(logins.map((login) => login.status)).toEqual(logins.map(() => 200))
    expect(new Set(logins.map((login) => `${login.body.main_agent_id} ${login.body.main_thread_id}`)).size).toBe(1)
    const { assistants, threads, projects, users } = service.collections
    const own = { user_id: String(body.user_id) }
    const counts = () =>
      Promise.all([projects.countDocuments(own), assistants.countDocuments(own), threads.countDocuments(own)])
    expect(await counts()).toEqual([1, 1, 1])
    expect(await users.findById(body.user_id).lean()).toMatchObject({ thread_counter: 1 })

    await Promise.all([assistants.deleteMany(own), threads.deleteMany(own)])
    const again = await post('/auth/login', { email, password: goodPassword })
    expect(again.body.main_agent_id).not.toBe(logins[0]?.body.main_agent_id)
    expect(await counts()).toEqual([1, 1, 1])
  })

  it('returns 422 for malformed bodies and 400 for broken rules', async () => {
    const email = newEmail()
    for (const body of [
      { email },
      { password: goodPassword },
      { email: 'nobody', password: goodPassword },
      { email, password: 12345678 },
    ]) {
      const answer = await post('/auth/signup', body)
      expect(answer.status).toBe(422)
      expect(answer.body.detail[0]).toMatchObject({
        loc: expect.arrayContaining(['body']),
        msg: expect.any(String),
        type: expect.any(String),
      })
    }
    for (const password of ['1234567', 'x'.repeat(257)]) {
      expect((await post('/auth/signup', { email, password })).status).toBe(400)
    }
    expect((await post('/auth/signup', { email, password: '🐎'.repeat(256) })).status).toBe(200)
    expect((await post('/auth/login', { email, password: 5 })).status).toBe(422)
    expect((await apiClient(service.url).call('GET', '/auth/verification-status/nobody')).status).toBe(422)
    const unknown = await apiClient(service.url).call('GET', `/auth/verification-status/${newEmail()}`)
    expect(unknown.body).toMatchObject({ verified: false, pending: false })
    expect((await post('/auth/login', '{')).status).toBe(400)
  })

  it('gives the same answer for a wrong password and an unknown address', async () => {
    const user = await signUpUser(service)
    const wrong = await post('/auth/login', { email: user.email, password: 'not the password' })
    const unknown = await post('/auth/login', { email: newEmail(), password: 'not the password' })
    expect(wrong.status).toBe(401)
    expect(unknown).toMatchObject({ status: 401, body: wrong.body })
  })
})
