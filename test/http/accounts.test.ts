import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { useNewUser, useTarget } from './target.ts'

describe('accounts over HTTP', () => {
  const target = useTarget()
  const user = useNewUser(target)

  it('allows login after sign-up and verification, and refuses another password', async () => {
    const anybody = apiClient(target.url)
    const { email, password } = user()
    const login = await anybody.call('POST', '/auth/login', { email, password })
    expect(login).toMatchObject({ status: 200, body: { jwt_token: expect.any(String) } })
    const profile = await apiClient(target.url, login.body.jwt_token).get('/user/')
    expect(profile).toMatchObject({ email })
    expect((await anybody.call('POST', '/auth/login', { email, password: `${password}!` })).status).toBe(401)
  })

  it('refuses a code for a verified address', async () => {
    const answer = await apiClient(target.url).call('POST', '/auth/verify-email', {
      email: user().email,
      code: '123456',
    })
    expect(answer.status).toBe(400)
  })

  it('refuses requests without a token or with an invented one', async () => {
    for (const token of [undefined, 'made-up']) {
      expect((await apiClient(target.url, token).call('GET', '/threads/')).status).toBe(401)
    }
  })
})
