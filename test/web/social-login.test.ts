import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../local/services/ports.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { buildTimeoutMs } from '../support/payment-provider.ts'
import { insertUser, newEmail } from '../support/users.ts'
import { type Console, look, startConsole } from './support.ts'

let site: Console
let provider: IdentityProvider
let company: IdentityProvider
beforeAll(async () => {
  const port = String(await freePort())
  const baseUrl = `http://127.0.0.1:${port}`
  provider = await startIdentityProvider({ redirectUri: `${baseUrl}/auth/social/callback` })
  company = await startIdentityProvider({ redirectUri: `${baseUrl}/auth/social/callback/company` })
  const ofCompany = { issuer: company.issuer, client_id: company.client.id, client_secret_env: 'COMPANY_SECRET' }
  site = await startConsole({
    PORT: port,
    BASE_URL: baseUrl,
    FRONTEND_URL: baseUrl,
    OAUTH_ISSUER: provider.issuer,
    OAUTH_CLIENT_ID: provider.client.id,
    OAUTH_CLIENT_SECRET: provider.client.secret,
    COMPANY_SECRET: company.client.secret,
    OAUTH_PROVIDERS: JSON.stringify([
      { ...ofCompany, id: 'company', name: 'Example Inc.', domains: ['company.example'], passwords: false },
      { ...ofCompany, id: 'partners', name: 'Partners', domains: ['partner.example'] },
    ]),
  })
}, buildTimeoutMs)
afterAll(async () => {
  await site.close()
  await Promise.all([provider.close(), company.close()])
})

const storedToken = (page: Page) => page.evaluate(() => localStorage.getItem('assistant-platform.session'))
/** As somebody whom the provider knows. */
async function logInAs(page: Page, person: string): Promise<void> {
  await page.goto(`${site.service.url}/login`)
  await page.getByRole('link', { name: 'Continue with Single sign-on' }).click()
  await page.fill('input[name=login]', person)
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.waitForSelector('h1:has-text("Authorize")')
  await page.click('button[type=submit]')
}

const callback = (token: string) => `${site.url}/auth-callback?jwt_token=${token}&main_agent_id=a&main_thread_id=t`

test('social login that began in this browser ends in the console, without its token in the address', async () => {
  const email = newEmail()
  provider.people.set('ada', { email, email_verified: true })
  const page = await site.newPage()
  await logInAs(page, 'ada')
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  expect(page.url()).not.toContain('jwt_token')
  expect(await storedToken(page)).not.toBeNull()

  // The cookie of that login lets no other token in.
  const stranger = await insertUser(site.service)
  const own = await storedToken(page)
  await page.goto(`${site.service.url}/auth-callback?jwt_token=${stranger.token}&main_agent_id=a&main_thread_id=t`)
  await page.getByRole('button', { name: `Log in as ${stranger.userId}@example.com` }).waitFor()
  expect(await storedToken(page)).toBe(own)
})

test('a token from another site replaces no session unless the person agrees', async () => {
  const victim = await insertUser(site.service)
  const stranger = await insertUser(site.service)
  const page = await site.newPage(victim.token)
  await page.goto(callback(stranger.token))
  const agree = page.getByRole('button', { name: `Log in as ${stranger.userId}@example.com` })
  await agree.waitFor()
  await site.expectAccessible(page, 'the question of the callback')
  expect(page.url()).not.toContain('jwt_token')
  expect(await storedToken(page)).toBe(victim.token)
  await page.goto(`${site.url}/console/usage`)
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  expect(await storedToken(page)).toBe(victim.token)

  await page.goto(callback(stranger.token))
  await agree.click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  expect(await storedToken(page)).toBe(stranger.token)
})

test('a callback without a token, or with one that the service refuses, says so and keeps the session', async () => {
  const user = await insertUser(site.service)
  const page = await site.newPage(user.token)
  for (const address of [`${site.url}/auth-callback`, callback(`${user.token.slice(0, -4)}aaaa`)]) {
    await page.goto(address)
    await page.getByText('The login returned no valid token.').waitFor()
    expect(await storedToken(page)).toBe(user.token)
  }
})

test('login and sign-up have a button for each provider, and follow the domain of the address', async () => {
  const email = 'grace@company.example'
  company.people.set('grace', { email, email_verified: true })
  const page = await site.newPage()
  const asked: string[] = []
  page.on('request', (request) => void asked.push(request.url()))
  const buttons = page.getByRole('link', { name: /^Continue with/ })
  const address = page.getByLabel('E-mail address')
  const password = page.getByLabel('Password', { exact: true })
  for (const path of ['login', 'signup']) {
    await page.goto(`${site.service.url}/${path}`)
    const all = ['Single sign-on', 'Example Inc.', 'Partners'].map((name) => `Continue with ${name}`)
    await expect.poll(() => buttons.allTextContents()).toEqual(all)
    await site.expectAccessible(page, `${path} with providers`)
    await pictures(page, path)

    // A domain with passwords keeps the field, and offers its provider alone; one of nobody the free providers.
    await address.fill('ada@partner.example')
    await expect.poll(() => buttons.allTextContents()).toEqual(['Continue with Partners'])
    expect(await password.count()).toBe(1)
    await address.fill('ada@elsewhere.example')
    await expect.poll(() => buttons.allTextContents()).toEqual(['Continue with Single sign-on'])

    await address.fill(email)
    await password.waitFor({ state: 'detached' })
    expect(await buttons.allTextContents()).toEqual(['Continue with Example Inc.'])
    expect(await page.getByRole('button', { name: /^(Log in|Create an account)$/ }).count()).toBe(0)
    await page.getByText(/With an address at company\.example you .*Example Inc\. /).waitFor()
    expect(await page.evaluate('document.activeElement?.getAttribute("type")')).toBe('email')
    await site.expectAccessible(page, `${path} without a password`)
    await pictures(page, `${path}-bound`)
  }
  // The service learns the domain alone.
  const urls = asked.filter((url) => url.includes('/auth/login-methods?'))
  expect(urls.length).toBeGreaterThan(0)
  expect(urls.join(' ')).not.toMatch(/grace|ada/)

  // Enter leads to the provider, and back into the console.
  await page.goto(`${site.service.url}/login`)
  await address.fill(email)
  await password.waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  await page.fill('input[name=login]', 'grace')
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.waitForSelector('h1:has-text("Authorize")')
  await page.click('button[type=submit]')
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await page.goto(`${site.service.url}/console/audit`)
  await page.getByText('You logged in with the identity provider').waitFor()

  // One that does not speak for the address says so, and leads back.
  const other = await (await browserOf(page).newContext()).newPage()
  provider.people.set('grace', { email, email_verified: true })
  await logInAs(other, 'grace')
  await other.getByRole('heading', { name: 'Your address logs in elsewhere' }).waitFor()
  await site.expectAccessible(other, 'an address that logs in elsewhere')
  await pictures(other, 'elsewhere')
  await other.getByRole('link', { name: 'To the login' }).click()
  await other.getByRole('heading', { name: 'Log in' }).waitFor()
  await other.context().close()
})

test('without an answer about the providers a password is still taken, and the page says so; in German, too', async () => {
  const page = await site.newPage()
  await page.evaluate(() => localStorage.setItem('assistant-platform.language', 'de'))
  await page.route('**/auth/login-methods*', (route) => route.fulfill({ status: 429, json: {} }))
  await page.goto(`${site.url}/login`)
  await page.getByText('Die anderen Wege zur Anmeldung konnten nicht geladen werden.').waitFor()
  await page.getByLabel('Passwort', { exact: true }).waitFor()
  await page.unroute('**/auth/login-methods*')
  await page.getByRole('button', { name: 'Erneut versuchen' }).click()
  await page.getByRole('link', { name: 'Weiter mit Example Inc.' }).waitFor()
  await page.getByLabel('E-Mail-Adresse').fill('grace@company.example')
  await page.getByText('Mit einer Adresse bei company.example meldest du dich über Example Inc. an.').waitFor()
  expect(await page.getByLabel('Passwort', { exact: true }).count()).toBe(0)
  await pictures(page, 'login-german')
})

function browserOf(page: Page) {
  const browser = page.context().browser()
  if (browser === null) throw new Error('the browser has ended')
  return browser
}

/** To look at: both themes, wide and narrow. */
async function pictures(page: Page, name: string): Promise<void> {
  if (!process.env['LOOK']) return
  const before = page.viewportSize()
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1440, 390]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      await look(page, `${name}-${colorScheme}-${width}`)
    }
  await page.emulateMedia({ colorScheme: null })
  if (before) await page.setViewportSize(before)
}
