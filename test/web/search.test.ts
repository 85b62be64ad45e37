import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { sendJson, startHttpServer } from '../support/http-server.ts'
import { type Console, look, say, startConsole } from './support.ts'

let site: Console
let server: Awaited<ReturnType<typeof startHttpServer>>
beforeAll(async () => {
  server = await startHttpServer(async (request, response) => {
    if (request.headers.authorization === 'Bearer wrong-key') return sendJson(response, 401, { detail: 'no' })
    const result = (host: string, title: string, content: string) => ({ url: `https://${host}/page`, title, content })
    sendJson(response, 200, {
      results: [
        result('www.tides.example', 'Tide tables for the harbour', 'High water at 14:20, low water at 20:35.'),
        result('news.example', 'A storm is coming', 'The harbour master closes the outer basin tonight.'),
        result(
          'encyclopedia.example',
          'Tide',
          'Tides are the rise and fall of sea levels caused by the moon and the sun.',
        ),
      ],
    })
  })
  site = await startConsole({ LOCAL_PAGE: 'true', RERANK_BASE_URL: 'http://127.0.0.1:9', RERANK_MODEL: 'bge-reranker' })
})
afterAll(async () => {
  await site.close()
  await server.close()
})

test('an answer without a search service says why, in the language and with the name of the tool', async () => {
  const { page } = await site.signedIn({ 'type==agent/tools': [{ type: 'web_search' }] })
  await page.evaluate(`localStorage.setItem('assistant-platform.language', 'de')`)
  await page.reload()
  site.model.reply({ text: 'Ich kann nicht suchen.' })
  await page.getByRole('textbox', { name: 'Nachricht', exact: true }).fill('Wann ist Hochwasser?')
  await page.keyboard.press('Enter')
  await page.getByText('Websuche: Es ist kein Suchdienst eingerichtet.').waitFor()
  await look(page, 'search-none-de')
})

test('an operator sets the search service, keeps its key secret, and tries it', async () => {
  const { page } = await site.signedIn()
  await page.goto(`${site.url}/admin/#search`)
  await page.getByRole('heading', { name: 'Search', exact: true }).waitFor()
  await page.getByLabel('Service').selectOption('SearXNG')
  await page.getByRole('textbox', { name: 'Address' }).fill(server.url)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: /Try it.*Web search/ }).click()
  await page.getByText('Tide tables for the harbour').waitFor()
  await page.getByRole('button', { name: /Try it.*Reranking/ }).click()
  await page.getByText('does not work').waitFor()
  await site.expectAccessible(page, 'search')
  await page.setViewportSize({ width: 1440, height: 1100 })
  await look(page, 'search-1440')
  await page.evaluate(`localStorage.setItem('assistant-platform.theme', 'dark')`)
  await page.evaluate(`localStorage.setItem('assistant-platform.language', 'de')`)
  await page.reload()
  await page.getByRole('heading', { name: 'Suche', exact: true }).waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByLabel('Dienst').selectOption('Brave Search')
  await page.getByLabel('Schlüssel', { exact: true }).fill('BSA-secret-of-brave')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  await site.expectAccessible(page, 'search (dark)')
  await page.getByRole('button', { name: 'Speichern' }).click()
  await page.getByText('BSA-… ist gespeichert').waitFor()
  expect(await page.getByLabel('Schlüssel', { exact: true }).inputValue()).toBe('')
  await look(page, 'search-390-de-dark')
  // Why it does not work is said in the reader's language, until the form says something else.
  await page.getByLabel('Dienst').selectOption('Tavily')
  await page.getByRole('textbox', { name: 'Adresse' }).fill(server.url)
  await page.getByLabel('Schlüssel', { exact: true }).fill('wrong-key')
  await page.getByRole('button', { name: 'Speichern' }).click()
  await page.getByRole('button', { name: /Ausprobieren.*Websuche/ }).click()
  const refused = page.getByText('Der Suchdienst lehnt den Schlüssel ab.')
  await refused.waitFor()
  await look(page, 'search-refused-390-de-dark')
  await page.getByLabel('Schlüssel', { exact: true }).fill('another')
  await refused.waitFor({ state: 'detached' })
})

test('an answer from the web shows its pages as cards with the names of the sites', async () => {
  // By a setting: what an operator changes takes effect within two seconds.
  const found = await startConsole({ SEARCH_PROVIDER: 'searxng', SEARCH_URL: server.url })
  onTestFinished(() => found.close())
  const { page } = await found.signedIn({ 'type==agent/tools': [{ type: 'web_search' }] })
  found.model.reply({ toolCalls: [{ id: 'c1', name: 'web_search', arguments: { query: 'tides' } }] })
  found.model.reply({ text: 'High water is at 14:20 ([news](https://news.example/page)).' })
  await say(page, 'When is high water?')
  const cards = page.getByRole('list', { name: 'Sources' }).getByRole('link')
  await cards.first().waitFor()
  const sites = await page.locator('.web-card-site').allTextContents()
  expect(sites.map((text) => text.trim())).toEqual(['news.example', 'tides.example', 'encyclopedia.example'])
  expect(await cards.first().getAttribute('rel')).toContain('noopener')
  await page.setViewportSize({ width: 1440, height: 900 })
  await found.expectAccessible(page, 'cards of web pages')
  await look(page, 'web-cards-1440')
  await page.evaluate(`localStorage.setItem('assistant-platform.theme', 'dark')`)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  await cards.first().waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  await look(page, 'web-cards-390-dark')
  // The service's own tools have names in the reader's language, others their own.
  await page.evaluate(`localStorage.setItem('assistant-platform.language', 'de')`)
  await page.reload()
  await page.getByText('Hat im Web nach „tides“ gesucht').waitFor()
  await look(page, 'web-search-de')
})
