import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { serviceEnv, startService } from '../support/service.ts'
import { useSharedService } from '../support/shared-service.ts'
import { goodPassword, newEmail, signUpUser } from '../support/users.ts'

describe('the account of the current user', () => {
  const service = useSharedService()

  const login = (email: string, password: string) =>
    apiClient(service.url).call('POST', '/auth/login', { email, password })

  it('changes and removes names and language', async () => {
    const { call } = await signUpUser(service)
    const patch = (body: unknown) => call('PATCH', '/user/', body)
    expect((await patch({ first_name: 'Ada', last_name: 'L.' })).body).toMatchObject({
      first_name: 'Ada',
      last_name: 'L.',
    })
    expect((await patch({ last_name: null })).body).toMatchObject({ first_name: 'Ada', last_name: null })
    expect((await patch({})).body).toMatchObject({ first_name: 'Ada', last_name: null })
    expect((await patch({ first_name: 1 })).status).toBe(422)
    expect((await patch({ language: 'de' })).body).toMatchObject({ first_name: 'Ada', language: 'de' })
    expect((await patch({ language: 'it' })).status).toBe(422)
    expect((await call('GET', '/user/')).body).toMatchObject({ language: 'de' })
    expect((await patch({ language: null })).body).not.toHaveProperty('language')
    expect((await call('GET', '/auth/me')).body).toMatchObject({
      first_name: 'Ada',
      last_name: null,
    })
  })

  it('changes the password if the current one is right', async () => {
    const { email, call } = await signUpUser(service)
    const change = (current_password: string, new_password: string) =>
      call('POST', '/user/change-password', { current_password, new_password })
    expect((await change('not the password', 'another password')).status).toBe(400)
    expect((await change(goodPassword, 'short')).status).toBe(400)
    expect((await call('GET', '/auth/user-info')).body).not.toHaveProperty('password_changed_at')
    const before = Date.now()
    expect((await change(goodPassword, 'another password')).status).toBe(200)
    const { password_changed_at } = (await call('GET', '/auth/user-info')).body
    expect(Date.parse(password_changed_at)).toBeGreaterThanOrEqual(before)
    expect((await login(email, goodPassword)).status).toBe(401)
    expect((await login(email, 'another password')).status).toBe(200)
    expect((await apiClient(service.url).call('POST', '/user/change-password', {})).status).toBe(401)
  })

  it('reports usage', async () => {
    const { call } = await signUpUser(service)
    expect((await call('GET', '/user/usage')).body).toMatchObject({
      thread_counter: 1,
      projects: 1,
      assistants: 1,
      files: 0,
      runs: 0,
      total_tokens: 0,
    })
  })

  it('returns 429 after ten wrong passwords, also for simultaneous attempts and after a restart of the API', async () => {
    const { email } = await signUpUser(service)
    const answers = await Promise.all(Array.from({ length: 25 }, () => login(email, 'a wrong password')))
    const statuses = answers.map((answer) => answer.status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)

    const restarted = await startService({ worker: false, env: { ...serviceEnv(), ...service.env } })
    const refused = await apiClient(restarted.url).call('POST', '/auth/login', { email, password: goodPassword })
    await restarted.api.close()
    expect(refused.status).toBe(429)
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(15 * 60)

    await service.collections.loginFailures.updateMany({}, { $set: { window_ends: new Date() } })
    expect((await login(email, goodPassword)).status).toBe(200)
  })

  it('resets the count after a right password', async () => {
    const { email } = await signUpUser(service)
    for (let round = 0; round < 2; round++) {
      for (let attempt = 0; attempt < 9; attempt++) expect((await login(email, 'a wrong password')).status).toBe(401)
      expect((await login(email, goodPassword)).status).toBe(200)
    }
  })

  it('limits guesses for unknown addresses in the same way', async () => {
    const email = newEmail()
    for (let attempt = 0; attempt < 10; attempt++) expect((await login(email, 'a wrong password')).status).toBe(401)
    expect((await login(email, 'a wrong password')).status).toBe(429)
  })

  it('handles thirty simultaneous logins', async () => {
    const { email } = await signUpUser(service)
    const answers = await Promise.all(Array.from({ length: 30 }, () => login(email, goodPassword)))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
  })
})
