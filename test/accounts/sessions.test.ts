import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { newEmail, signUpUser } from '../support/users.ts'

describe('a token whose user does not exist', () => {
  const service = useSharedService()

  const tokenOf = (claims: Record<string, string>) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(service.settings.jwtIssuer)
      .setAudience(service.settings.jwtAudience)
      .setExpirationTime('1h')
      .sign(Buffer.from(service.settings.jwtSecret))
  const me = (token: string) => apiClient(service.url, token).call('GET', '/auth/me')
  const projects = (userId: string) => service.collections.projects.find({ user_id: userId }).lean()

  it('creates one user with a main project under the id in the token, also with twenty simultaneous requests', async () => {
    const claims = { user_id: randomUUID(), project_id: randomUUID() }
    const token = await tokenOf(claims)
    const answers = await Promise.all(Array.from({ length: 20 }, () => me(token)))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
    expect(answers[0]?.body).toMatchObject({ user_id: claims.user_id, email: null, thread_counter: 0 })
    expect(await projects(claims.user_id)).toMatchObject([{ _id: claims.project_id, name: 'main' }])
    expect((await apiClient(service.url, token).call('GET', '/threads/')).status).toBe(200)
  })

  it('stores an unused e-mail address in lower case, and never one of another account', async () => {
    const email = newEmail()
    const free = await tokenOf({ user_id: randomUUID(), project_id: randomUUID(), email: email.toUpperCase() })
    expect((await me(free)).body).toMatchObject({ email, provider: 'userpool' })

    const owner = await signUpUser(service)
    const thief = await tokenOf({ user_id: randomUUID(), project_id: randomUUID(), email: owner.email })
    expect((await me(thief)).body).toMatchObject({ email: null })
    expect((await me(owner.token)).body).toMatchObject({ user_id: owner.userId, email: owner.email })
  })

  it('gives no access to a project of another user', async () => {
    const owner = await signUpUser(service)
    const [main] = await projects(owner.userId)
    const stranger = { user_id: randomUUID(), project_id: String(main?._id) }
    const token = await tokenOf(stranger)
    expect((await me(token)).status).toBe(200)
    expect(await projects(stranger.user_id)).toMatchObject([{ name: 'main' }])
    expect((await apiClient(service.url, token).call('GET', '/threads/')).status).toBe(403)
    expect((await apiClient(service.url, token).call('GET', '/assistants/')).status).toBe(403)
  })

  it('creates a deleted account again, empty, and restores nothing', async () => {
    const { token, userId, email } = await signUpUser(service)
    const { users, projects, assistants, threads } = service.collections
    const own = { user_id: userId }
    await Promise.all([projects.deleteMany(own), assistants.deleteMany(own), threads.deleteMany(own)])
    await users.deleteOne({ _id: userId })
    expect((await me(token)).body).toMatchObject({ user_id: userId, email: null, thread_counter: 0 })
    expect((await apiClient(service.url, token).call('GET', '/assistants/')).body).toEqual([])
    expect(await users.exists({ email })).toBeNull()
  })

  it('is refused while its account is being deleted', async () => {
    const { token, userId, email, password } = await signUpUser(service)
    await service.collections.users.updateOne({ _id: userId }, { $set: { deleting: true } })
    expect((await me(token)).status).toBe(403)
    expect((await apiClient(service.url).call('POST', '/auth/login', { email, password })).status).toBe(401)
  })

  it('updates last_active_at at most every five minutes', async () => {
    const { token, userId } = await signUpUser(service)
    const { users } = service.collections
    const lastActive = async () => (await users.findById(userId).lean())?.last_active_at
    const recent = new Date(Date.now() - 60_000)
    await users.updateOne({ _id: userId }, { $set: { last_active_at: recent } })
    await me(token)
    expect(await lastActive()).toEqual(recent)
    const old = new Date(Date.now() - 3_600_000)
    await users.updateOne({ _id: userId }, { $set: { last_active_at: old } })
    await me(token)
    expect(Number(await lastActive())).toBeGreaterThan(old.getTime())
  })
})
