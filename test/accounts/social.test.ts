import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../local/services/ports.ts'
import { apiClient } from '../support/api-client.ts'
import { startBrowser } from '../support/browser.ts'
import { startHttpServer } from '../support/http-server.ts'
import { type IdentityProvider, logInByHttp, startIdentityProvider } from '../support/identity-provider.ts'
import { otherLetter } from '../support/other-letter.ts'
import { type TestService, serviceEnv, startService } from '../support/service.ts'
import { newEmail, signUpUser } from '../support/users.ts'

describe('social login', () => {
  let provider: IdentityProvider
  let company: IdentityProvider
  let frontend: Awaited<ReturnType<typeof startHttpServer>>
  let service: TestService
  beforeAll(async () => {
    const port = String(await freePort())
    const baseUrl = `http://127.0.0.1:${port}`
    provider = await startIdentityProvider({ redirectUri: `${baseUrl}/auth/social/callback` })
    company = await startIdentityProvider({
      redirectUri: `${baseUrl}/auth/social/callback/company`,
      logoutUri: `${baseUrl}/auth/social/logout/company`,
    })
    frontend = await startHttpServer((_request, response) => void response.end('<title>front end</title>'))
    service = await startService({
      env: {
        PORT: port,
        BASE_URL: baseUrl,
        FRONTEND_URL: frontend.url,
        OAUTH_ISSUER: provider.issuer,
        OAUTH_CLIENT_ID: provider.client.id,
        OAUTH_CLIENT_SECRET: provider.client.secret,
        COMPANY_SECRET: company.client.secret,
        OAUTH_PROVIDERS: JSON.stringify([
          {
            id: 'company',
            name: 'Company',
            issuer: company.issuer,
            client_id: company.client.id,
            client_secret_env: 'COMPANY_SECRET',
            domains: ['company.example'],
            trust_addresses: true,
            groups_claims: ['groups'],
            passwords: false,
          },
        ]),
      },
    })
  })
  afterAll(async () => {
    await service.close()
    await Promise.all([provider.close(), company.close(), frontend.close()])
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

  describe('with a provider for a domain', () => {
    let people = 0
    const newPerson = () => `person-${++people}-${Date.now()}`
    const tokenIn = (location: string) => new URL(location).searchParams.get('jwt_token') ?? ''

    it('offers each provider its button, and to an address what its domain uses', async () => {
      const methods = (email = '') => apiClient(service.url).get(`/auth/login-methods${email && `?email=${email}`}`)
      const buttons = async (email?: string) => (await methods(email)).providers.map(({ name }: any) => name)
      expect(await methods()).toMatchObject({ password: true })
      expect(await buttons()).toEqual(['Single sign-on', 'Company'])
      expect(await methods('a@company.example')).toMatchObject({ password: false })
      expect(await buttons('a@company.example')).toEqual(['Company'])
      expect(await buttons('a@example.com')).toEqual(['Single sign-on'])
      expect(await apiClient(service.url).call('GET', '/auth/social/login?provider=none')).toMatchObject({
        status: 404,
      })
    })

    it('trusts its addresses without email_verified, and puts people into the groups that it names', async () => {
      const name = newPerson()
      company.people.set(name, { email: `${name}@company.example`, groups: [`staff ${name}`] })
      const entered = await logInByHttp(service.url, 'company', name)
      expect(entered).toMatchObject({ status: 302 })
      const me = apiClient(service.url, tokenIn(entered.location))
      expect(await me.get('/auth/me')).toMatchObject({ email: `${name}@company.example` })
      expect((await me.get('/groups')).groups).toMatchObject([{ name: `staff ${name}`, source: 'provider' }])
      company.people.set(name, { email: `${name}@company.example`, groups: [] })
      await logInByHttp(service.url, 'company', name)
      expect((await me.get('/groups')).groups).toEqual([])
    })

    it('lets no other provider speak for its domain, and it for no other', async () => {
      const name = newPerson()
      provider.people.set(name, { email: `${name}@company.example`, email_verified: true })
      company.people.set(name, { email: `${name}@example.com`, email_verified: true })
      for (const id of ['social', 'company']) {
        const { status, text } = await logInByHttp(service.url, id, name)
        expect([id, status]).toEqual([id, 409])
        expect(text).toContain('logs in elsewhere')
      }
      const found = await service.collections.users.countDocuments({ email: new RegExp(`^${name}`) })
      expect(found).toBe(0)
      company.people.set(name, { email: `${name}@company.example`, email_verified: false })
      expect((await logInByHttp(service.url, 'company', name)).status).toBe(400)
    })

    it('keeps its domain, whatever address somebody has elsewhere by now', async () => {
      const name = newPerson()
      provider.people.set(name, { email: `${name}@example.com`, email_verified: true })
      const { location } = await logInByHttp(service.url, 'social', name)
      const userId = String(decodeJwt(tokenIn(location))['user_id'])
      // As an account that was made before the domain was given to its provider.
      await service.collections.users.updateOne({ _id: userId }, { $set: { email: `${name}@company.example` } })
      const { status, text } = await logInByHttp(service.url, 'social', name)
      expect([status, text]).toEqual([409, expect.stringContaining('logs in elsewhere')])
    })

    it('takes passwords from its domain, and over accounts that have one', async () => {
      const email = `${newPerson()}@company.example`
      const anybody = apiClient(service.url)
      const refused = { status: 403, body: { detail: expect.stringContaining('Company') } }
      expect(await anybody.call('POST', '/auth/signup', { email, password: 'correct horse battery' })).toMatchObject(
        refused,
      )
      expect(await anybody.call('POST', '/auth/login', { email, password: 'any password' })).toMatchObject(refused)
      expect(await anybody.call('POST', '/auth/forgot-password', { email })).toMatchObject(refused)
      const { userId } = await signUpUser(service)
      await service.collections.users.updateOne({ _id: userId }, { $set: { email } })
      const [name = ''] = email.split('@')
      company.people.set(name, { email })
      const { location } = await logInByHttp(service.url, 'company', name)
      expect(decodeJwt(tokenIn(location))['user_id']).toBe(userId)
      const user = await service.collections.users.findById(userId).lean()
      expect(user).toMatchObject({ provider: 'social', subject: `${company.issuer}|${name}` })
      expect(user).not.toHaveProperty('password_hash')
    })

    it('ends the tokens of somebody who logs out there, and of nobody else', async () => {
      const [name, other] = [newPerson(), newPerson()]
      for (const one of [name, other]) company.people.set(one, { email: `${one}@company.example` })
      const entered = await logInByHttp(service.url, 'company', name)
      const { location } = await logInByHttp(service.url, 'company', other)
      const me = apiClient(service.url, tokenIn(entered.location))
      expect(await me.call('GET', '/auth/me')).toMatchObject({ status: 200 })
      await entered.logOut()
      expect(await me.call('GET', '/auth/me')).toMatchObject({ status: 401 })
      const others = apiClient(service.url, tokenIn(location))
      expect(await others.call('GET', '/auth/me')).toMatchObject({ status: 200 })
      const anybody = apiClient(service.url)
      for (const [path, status] of [
        ['/auth/social/logout/company', 400],
        ['/auth/social/logout/none', 404],
      ] as const)
        expect(await anybody.call('POST', path, { logout_token: tokenIn(location) })).toMatchObject({ status })
    })
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
      env: { ...serviceEnv(), ...service.env, PORT: '0', OAUTH_PROVIDERS: '', [name]: value },
    })
    const answer = await apiClient(other.url).call('GET', '/auth/social/login')
    await other.api.close()
    expect(answer).toMatchObject({ status: 500, body: { detail: expect.stringContaining(words) } })
  })
})
