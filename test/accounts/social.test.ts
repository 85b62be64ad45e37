import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../local/services/ports.ts'
import { apiClient } from '../support/api-client.ts'
import { startBrowser } from '../support/browser.ts'
import { startHttpServer } from '../support/http-server.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { otherLetter } from '../support/other-letter.ts'
import { type TestService, serviceEnv, startService } from '../support/service.ts'
import { newEmail, signUpUser } from '../support/users.ts'

describe('social login', () => {
  let provider: IdentityProvider
  let frontend: Awaited<ReturnType<typeof startHttpServer>>
  let service: TestService
  beforeAll(async () => {
    const port = String(await freePort())
    const baseUrl = `http://127.0.0.1:${port}`
    provider = await startIdentityProvider({ redirectUri: `${baseUrl}/auth/social/callback` })
    frontend = await startHttpServer((_request, response) => void response.end('<title>front end</title>'))
    service = await startService({
      env: {
        PORT: port,
        BASE_URL: baseUrl,
        FRONTEND_URL: frontend.url,
        OAUTH_ISSUER: provider.issuer,
        OAUTH_CLIENT_ID: provider.client.id,
        OAUTH_CLIENT_SECRET: provider.client.secret,
      },
    })
  })
  afterAll(async () => {
    await service.close()
    await Promise.all([provider.close(), frontend.close()])
  })

  describe('in a browser', () => {
    let browser: Awaited<ReturnType<typeof startBrowser>>
    beforeEach(async () => {
      browser = await startBrowser()
      return () => browser.close()
    })

    /** From our login route through the provider's own pages to wherever that leads. */
    async function logIn(name: string) {
      const page = await browser.context.newPage()
      await page.goto(`${service.url}/auth/social/login`)
      await page.fill('input[name=login]', name)
      await page.fill('input[name=password]', 'any')
      await page.click('button[type=submit]')
      await page.waitForSelector('h1:has-text("Authorize")')
      const [answer] = await Promise.all([
        page.waitForResponse((response) => response.url().includes('/auth/social/callback')),
        page.click('button[type=submit]'),
      ])
      await page.waitForLoadState()
      return { page, answer }
    }

    it('redirects to the front end with a valid token', async () => {
      const email = newEmail()
      provider.people.set('ada', {
        email: email.toUpperCase(),
        email_verified: true,
        given_name: 'Ada',
        family_name: 'L.',
      })
      const { page } = await logIn('ada')
      expect(await page.title()).toBe('front end')
      const url = new URL(page.url())
      expect(`${url.origin}${url.pathname}`).toBe(`${frontend.url}/auth-callback`)
      const token = url.searchParams.get('jwt_token') ?? ''
      const me = await apiClient(service.url, token).call('GET', '/auth/me')
      const names = { first_name: 'Ada', last_name: 'L.' }
      // As the browser prefers.
      expect(me.body).toMatchObject({ email, provider: 'social', ...names, language: 'en', verified: true })
      const { collections } = service
      const own = { user_id: me.body.user_id }
      expect(await collections.assistants.findById(url.searchParams.get('main_agent_id')).lean()).toMatchObject(own)
      expect(await collections.threads.findById(url.searchParams.get('main_thread_id')).lean()).toMatchObject(own)
      expect(decodeJwt(token)['project_id']).toBe((await collections.projects.findOne(own).lean())?._id)
      const left = (await browser.context.cookies(service.url)).map((cookie) => cookie.name)
      expect(left.filter((cookie) => cookie.startsWith('social_login'))).toEqual([])
    })

    it('finds the same account at the next login', async () => {
      provider.people.set('grace', { email: newEmail(), email_verified: true })
      const tokens = []
      for (let round = 0; round < 2; round++) {
        await browser.context.clearCookies()
        const { page } = await logIn('grace')
        tokens.push(decodeJwt(new URL(page.url()).searchParams.get('jwt_token') ?? '')['user_id'])
      }
      expect(tokens[0]).toBe(tokens[1])
    })

    it('shows an error page without a token when the account has a password', async () => {
      const { email, userId } = await signUpUser(service)
      provider.people.set('eve', { email, email_verified: true })
      const { page, answer } = await logIn('eve')
      expect(answer.status()).toBe(409)
      expect(new URL(page.url()).pathname).toBe('/auth/social/callback')
      expect(await page.textContent('body')).toContain('log in with the e-mail address and the password')
      expect(await page.content()).not.toContain('jwt_token')
      expect(await service.collections.users.findOne({ email }).lean()).toMatchObject({
        _id: userId,
        provider: 'email',
      })
    })

    it('shows an error page without a token when the account is bound to another subject', async () => {
      const email = newEmail()
      provider.people.set('first-holder', { email, email_verified: true })
      const first = await logIn('first-holder')
      expect(await first.page.title()).toBe('front end')
      const bound = await service.collections.users.findOne({ email }).lean()
      expect(bound?.subject).toBe(`${provider.issuer}|first-holder`)

      await browser.context.clearCookies()
      provider.people.set('next-holder', { email, email_verified: true })
      const { page, answer } = await logIn('next-holder')
      expect(answer.status()).toBe(409)
      expect(await page.textContent('body')).toContain('created with another identity')
      expect(page.url()).not.toContain('jwt_token')
      expect(await page.content()).not.toContain('jwt_token')
      expect(await service.collections.users.findOne({ email }).lean()).toMatchObject({
        _id: bound?._id,
        subject: bound?.subject,
      })
    })

    it('binds a social account without a subject to the first subject', async () => {
      const email = newEmail()
      provider.people.set('unbound', { email, email_verified: true })
      await logIn('unbound')
      const { collections } = service
      const made = await collections.users.findOneAndUpdate({ email }, { $unset: { subject: 1 } }).lean()
      await browser.context.clearCookies()
      const { page } = await logIn('unbound')
      expect(decodeJwt(new URL(page.url()).searchParams.get('jwt_token') ?? '')['user_id']).toBe(made?._id)
      expect((await collections.users.findOne({ email }).lean())?.subject).toBe(`${provider.issuer}|unbound`)
    })

    it.each([{ email_verified: false }, {}])(
      'refuses a login without a verified e-mail address (%o)',
      async (claims) => {
        const email = newEmail()
        provider.people.set('mallory', { email, ...claims })
        const { page, answer } = await logIn('mallory')
        expect(answer.status()).toBe(400)
        expect(await page.textContent('h1')).toContain('not verified')
        expect(await service.collections.users.exists({ email })).toBeNull()
      },
    )
  })

  /** The first step, as a browser would be told to take it. */
  async function begin() {
    const answer = await apiClient(service.url).call('GET', '/auth/social/login')
    const location = new URL(answer.headers.get('location') ?? '')
    return {
      answer,
      location,
      state: location.searchParams.get('state') ?? '',
      setCookie: answer.headers.get('set-cookie') ?? '',
    }
  }
  const callback = (query: Record<string, string>, cookie?: string) =>
    apiClient(service.url).call(
      'GET',
      `/auth/social/callback?${new URLSearchParams(query).toString()}`,
      undefined,
      cookie === undefined ? {} : { cookie: cookie.split(';', 1)[0] ?? '' },
    )

  /** With another first letter in the sealed part. */
  const changed = (cookie: string) => cookie.replace(/(?<==v1\.\w+\.)./, otherLetter)

  it('sends PKCE, state and nonce, kept in a sealed cookie', async () => {
    const { answer, location, state, setCookie } = await begin()
    expect(answer.status).toBe(302)
    expect(location.href.startsWith(`${provider.issuer}/auth?`)).toBe(true)
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: provider.client.id,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.any(String),
      redirect_uri: `${service.url}/auth/social/callback`,
    })
    expect(setCookie).toMatch(/; HttpOnly; SameSite=Lax$/)
    expect(setCookie).not.toContain(state)
    expect(setCookie).not.toContain(location.searchParams.get('nonce'))
  })

  it('returns 400 for a callback without the cookie of its login', async () => {
    const { state, setCookie } = await begin()
    const other = await begin()
    const code = 'made-up'
    const statuses = {
      nothing: (await callback({})).status,
      'no cookie': (await callback({ code, state })).status,
      'no state': (await callback({ code }, setCookie)).status,
      'the cookie of another login': (await callback({ code, state }, other.setCookie)).status,
      'another state': (await callback({ code, state: other.state }, setCookie)).status,
      'a changed cookie': (await callback({ code, state }, changed(setCookie))).status,
      'no code': (await callback({ state }, setCookie)).status,
      'a made-up code': (await callback({ code, state, iss: provider.issuer }, setCookie)).status,
      'a refusal': (await callback({ error: 'access_denied', state, iss: provider.issuer }, setCookie)).status,
    }
    expect(statuses).toEqual(Object.fromEntries(Object.keys(statuses).map((name) => [name, 400])))
  })

  it.each([
    ['OAUTH_ISSUER', '', 'OAUTH_ISSUER'],
    ['OAUTH_CLIENT_ID', '', 'OAUTH_CLIENT_ID'],
    ['OAUTH_CLIENT_SECRET', '', 'OAUTH_CLIENT_SECRET'],
    ['OAUTH_ISSUER', 'http://127.0.0.1:9', 'no OpenID provider answers'],
    ['OAUTH_ISSUER', 'http://idp.example.com', 'https'],
  ])('returns a 500 that names the setting with %s=%s', async (name, value, words) => {
    const other = await startService({
      worker: false,
      env: { ...serviceEnv(), ...service.env, PORT: '0', [name]: value },
    })
    const answer = await apiClient(other.url).call('GET', '/auth/social/login')
    await other.api.close()
    expect(answer).toMatchObject({ status: 500, body: { detail: expect.stringContaining(words) } })
  })
})
