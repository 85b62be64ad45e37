import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../local/services/ports.ts'
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts'
import { buildTimeoutMs } from '../support/payment-provider.ts'
import { insertUser, newEmail } from '../support/users.ts'
import { type Console, startConsole } from './support.ts'

let site: Console
let provider: IdentityProvider
beforeAll(async () => {
  const port = String(await freePort())
  const baseUrl = `http://127.0.0.1:${port}`
  provider = await startIdentityProvider({ redirectUri: `${baseUrl}/auth/social/callback` })
  site = await startConsole({
    PORT: port,
    BASE_URL: baseUrl,
    FRONTEND_URL: baseUrl,
    OAUTH_ISSUER: provider.issuer,
    OAUTH_CLIENT_ID: provider.client.id,
    OAUTH_CLIENT_SECRET: provider.client.secret,
  })
}, buildTimeoutMs)
afterAll(async () => {
  await site.close()
  await provider.close()
})

const storedToken = (page: Page) => page.evaluate(() => localStorage.getItem('assistant-platform.session'))
const callback = (token: string) => `${site.url}/auth-callback?jwt_token=${token}&main_agent_id=a&main_thread_id=t`

test('social login that began in this browser ends in the console, without its token in the address', async () => {
  const email = newEmail()
  provider.people.set('ada', { email, email_verified: true })
  const page = await site.newPage()
  await page.goto(`${site.service.url}/login`)
  await page.getByRole('link', { name: 'Continue with your identity provider' }).click()
  await page.fill('input[name=login]', 'ada')
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.waitForSelector('h1:has-text("Authorize")')
  await page.click('button[type=submit]')
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
