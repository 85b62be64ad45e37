import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { mailTo, mailsTo } from '../support/mailbox.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { goodPassword, newEmail, signUpUser } from '../support/users.ts'

describe('password reset', () => {
  const service = useStarted(() => startService({ env: { FRONTEND_URL: 'https://front.example.com/' } }))

  const post = (path: string, body: unknown) => apiClient(service.url).call('POST', path, body)
  const login = async (email: string, password: string) => (await post('/auth/login', { email, password })).status

  /** The token of the link in the `count`th mail to an address. */
  async function tokenTo(email: string, count: number): Promise<string> {
    const link = /^https:\/\/front\.example\.com\/reset-password\?token=([\w-]{43})$/m.exec(
      (await mailTo(email, count)).text,
    )
    if (link?.[1] === undefined) throw new Error('the mail holds no link')
    return link[1]
  }

  it('replaces the password once, by a mail in the language of the account', async () => {
    const { email, patch } = await signUpUser(service)
    expect(await patch('/user/', { language: 'de' })).toMatchObject({ language: 'de' })
    expect((await post('/auth/forgot-password', { email: email.toUpperCase() })).status).toBe(200)
    const token = await tokenTo(email, 2)
    const { subject, html } = await mailTo(email, 2)
    expect(subject).toBe('Neues Passwort wählen')
    expect(html).toContain('<html lang="de">')
    expect((await post('/auth/reset-password', { token, new_password: 'short' })).status).toBe(400)
    expect((await post('/auth/reset-password', { token, new_password: 'another password' })).status).toBe(200)
    expect(await login(email, goodPassword)).toBe(401)
    expect(await login(email, 'another password')).toBe(200)
    expect((await post('/auth/reset-password', { token, new_password: 'a third password' })).status).toBe(400)
    expect(await login(email, 'another password')).toBe(200)
    expect(await service.collections.pendingPasswords.countDocuments({})).toBe(0)
  })

  it('accepts a token once in ten simultaneous requests', async () => {
    const { email } = await signUpUser(service)
    await post('/auth/forgot-password', { email })
    const token = await tokenTo(email, 2)
    const passwords = Array.from({ length: 10 }, (_, index) => `new password ${index}`)
    const answers = await Promise.all(
      passwords.map((new_password) => post('/auth/reset-password', { token, new_password })),
    )
    const accepted = passwords.filter((_, index) => answers[index]?.status === 200)
    expect(accepted).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 400)).toHaveLength(9)
    const works = await Promise.all(passwords.map((password) => login(email, password)))
    expect(passwords.filter((_, index) => works[index] === 200)).toEqual(accepted)
    expect(await service.collections.pendingPasswords.countDocuments({})).toBe(0)
  })

  it('has one active token: a new request invalidates the previous one', async () => {
    const { email } = await signUpUser(service)
    await post('/auth/forgot-password', { email })
    const first = await tokenTo(email, 2)
    await post('/auth/forgot-password', { email })
    expect((await post('/auth/reset-password', { token: first, new_password: 'another password' })).status).toBe(400)
    const second = await tokenTo(email, 3)
    expect((await post('/auth/reset-password', { token: second, new_password: 'another password' })).status).toBe(200)
    await post('/auth/forgot-password', { email })
    const third = await tokenTo(email, 4)
    expect((await post('/auth/reset-password', { token: second, new_password: 'a third password' })).status).toBe(400)
    expect((await post('/auth/reset-password', { token: third, new_password: 'a third password' })).status).toBe(200)
    expect(await login(email, 'a third password')).toBe(200)
  })

  it('verifies the address and resets the limit on wrong passwords', async () => {
    const email = newEmail()
    await post('/auth/signup', { email, password: goodPassword })
    await mailTo(email)
    for (let attempt = 0; attempt < 11; attempt++) await login(email, 'a wrong password')
    expect(await login(email, goodPassword)).toBe(429)
    await post('/auth/forgot-password', { email })
    const token = await tokenTo(email, 2)
    expect((await post('/auth/reset-password', { token, new_password: 'another password' })).status).toBe(200)
    expect(await login(email, 'another password')).toBe(200)
    expect((await apiClient(service.url).call('GET', `/auth/verification-status/${email}`)).body).toMatchObject({
      verified: true,
      pending: false,
    })
  })

  it('stores the token nowhere: only the mail contains it', async () => {
    const { email, userId } = await signUpUser(service)
    await post('/auth/forgot-password', { email })
    const token = await tokenTo(email, 2)
    const records = await service.collections.passwordResets.find({ user_id: userId }).lean()
    expect(records).toHaveLength(1)
    expect(JSON.stringify(records)).not.toContain(token)
  })

  it('refuses unknown addresses, accounts without a password, invented tokens and malformed bodies', async () => {
    expect((await post('/auth/forgot-password', { email: newEmail() })).status).toBe(404)
    const social = newEmail()
    const user = await signUpUser(service)
    await service.collections.users.updateOne({ _id: user.userId }, { $set: { provider: 'social', email: social } })
    expect((await post('/auth/forgot-password', { email: social })).status).toBe(404)
    expect(await mailsTo(social)).toEqual([])
    expect((await post('/auth/reset-password', { token: 'made up', new_password: goodPassword })).status).toBe(400)
    expect((await post('/auth/reset-password', { token: 'made up' })).status).toBe(422)
    expect((await post('/auth/forgot-password', { email: 'nobody' })).status).toBe(422)
  })
})
