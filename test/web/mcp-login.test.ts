import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../local/services/ports.ts'
import { startOAuthMcpServer } from '../support/oauth-mcp-server.ts'
import { buildTimeoutMs } from '../support/payment-provider.ts'
import { type Console, look, startConsole } from './support.ts'

let site: Console
let mcp: Awaited<ReturnType<typeof startOAuthMcpServer>>
beforeAll(async () => {
  mcp = await startOAuthMcpServer({
    register: (server) =>
      void server.registerTool('tides', { description: 'Says the tides' }, () => ({
        content: [{ type: 'text', text: 'High at six' }],
      })),
  })
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  site = await startConsole({ PORT: port, BASE_URL: url, FRONTEND_URL: url, OUTBOUND_ALLOW: '127.0.0.1' })
}, buildTimeoutMs)
afterAll(async () => {
  await site.close()
  await mcp.close()
})

/** On the service's own address, to which the login server leads back. */
async function openTools(locale = 'en-US') {
  const { user, assistantId } = await site.signedIn()
  const context = await site.context.browser()?.newContext({ locale })
  if (context === undefined) throw new Error('the browser has ended')
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(`${site.service.url}/icon.svg`)
  await page.evaluate((token) => localStorage.setItem('assistant-platform.session', token), user.token)
  await page.goto(`${site.service.url}/console/assistants/${assistantId}?tab=tools`)
  return { user, page, assistantId }
}

async function lookAtAll(page: Page, name: string) {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height })
      await site.expectAccessible(page, `${name}, ${width}, ${colorScheme}`)
      await look(page, `${name}-${width}-${colorScheme}`)
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1440, height: 900 })
}

test('a server of the gallery comes with its address; one that asks for a login is connected in the browser', async () => {
  const { user, page, assistantId } = await openTools()
  const gallery = page.getByRole('region', { name: 'MCP servers' })
  await gallery.waitFor()
  await lookAtAll(page, 'gallery')
  await gallery.getByRole('button', { name: /Notion/ }).click()
  const panel = page.getByRole('dialog', { name: 'notion' })
  expect(await panel.getByLabel('Address').inputValue()).toBe('https://mcp.notion.com/mcp')
  // On a phone, too, it is what stands first: nothing else is needed.
  await page.setViewportSize({ width: 390, height: 844 })
  const connect = panel.getByRole('button', { name: 'Connect', exact: true })
  await expect.poll(async () => (await connect.boundingBox())?.y).toBeLessThan(500)
  await look(page, 'preset-390')
  await page.setViewportSize({ width: 1440, height: 900 })
  await panel.getByRole('button', { name: 'Cancel' }).click()

  await page.locator('.tool-card', { hasText: 'All tools of a server' }).click()
  const own = page.getByRole('dialog')
  await own.getByLabel('Name', { exact: true }).fill('harbour')
  await own.getByLabel('Address').fill(mcp.url)
  await lookAtAll(page, 'panel')
  await own.getByText('Client registered by hand').click()
  await own.getByText(`${site.service.url}/console/connected`).waitFor()
  await lookAtAll(page, 'panel-client')
  await own.getByText('Client registered by hand').click()
  await own.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByText(`Connected with ${new URL(mcp.url).host}.`).waitFor()
  expect(page.url()).toBe(`${site.service.url}/console/assistants/${assistantId}?tab=tools`)
  expect(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('mcp-login')))).toEqual([])
  await page.getByRole('button', { name: 'Test: harbour' }).click()
  const connected = page.getByRole('dialog')
  await connected.getByText(/^Connected on/).waitFor()
  await connected.getByText('Says the tides').waitFor()
  await lookAtAll(page, 'connected')
  await connected.getByRole('button', { name: 'Disconnect' }).click()
  await connected.getByRole('button', { name: 'Connect', exact: true }).waitFor()
  expect((await user.get(`/assistants/${assistantId}/mcp-logins`)).logins).toEqual([])
})

test('a login that was refused, or not begun in this tab, is said, and leads back', async () => {
  const { page, assistantId } = await openTools('de-DE')
  await page.goto(`${site.service.url}/console/connected?code=abc&state=unknown`)
  await page.getByText('In diesem Tab wurde keine Anmeldung begonnen.').waitFor()
  expect(page.url()).not.toContain('abc')
  await site.expectAccessible(page, 'no login')
  await page.evaluate(
    ([id, url]) =>
      sessionStorage.setItem(
        'assistant-platform.mcp-login.mine',
        JSON.stringify({ attempt: 'forged', assistantId: id, url }),
      ),
    [assistantId, mcp.url] as const,
  )
  await page.goto(`${site.service.url}/console/connected?error=access_denied&state=mine`)
  await page.getByText('Der Server hat die Anmeldung nicht erlaubt.').waitFor()
  await page.goto(`${site.service.url}/console/connected?code=abc&state=mine`)
  await page.getByText(/Die Antwort gehört zu keiner Anmeldung/).waitFor()
  await look(page, 'refused-de')
  await page.getByRole('link', { name: 'Zurück zu den Werkzeugen' }).click()
  await page.getByRole('region', { name: 'MCP-Server' }).waitFor()
  await lookAtAll(page, 'gallery-de')
})

test('a server that does not answer says so, until its address is changed', async () => {
  const { page } = await openTools('de-DE')
  await page.locator('.tool-card', { hasText: 'MCP-Server' }).first().click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('Name', { exact: true }).fill('away')
  await panel.getByLabel('Adresse').fill('http://127.0.0.1:9/mcp')
  await panel.getByRole('button', { name: 'Verbinden', exact: true }).click()
  const away = panel.getByText('Der MCP-Server ist nicht erreichbar.')
  await away.waitFor()
  await panel.getByRole('button', { name: 'Testen', exact: true }).click()
  await expect.poll(() => away.count()).toBe(2)
  await away.first().scrollIntoViewIfNeeded()
  await look(page, 'away-de')
  await panel.getByLabel('Adresse').fill('http://127.0.0.1:10/mcp')
  await expect.poll(() => away.count()).toBe(0)
})
