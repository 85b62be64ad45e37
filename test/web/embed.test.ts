import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startHttpServer } from '../support/http-server.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'
import { startConsole } from './support.ts'

/** An operator's own. */
const logo = path.join(import.meta.dirname, '../../docs/images/embed.png')

const site = useStarted(() =>
  startConsole({ PRODUCT_NAME: 'Pilot & Sons', PRODUCT_COLOR: '#0f766e', PRODUCT_LOGO: logo }),
)

/** A page of another site, under a strict policy of its own. */
async function otherSite(assistantId: string, workers = 'worker-src blob:') {
  const example = await readFile(path.join(import.meta.dirname, '../../examples/embed/index.html'), 'utf8')
  const html = example.replaceAll('ASSISTANT_ID', assistantId).replaceAll('http://127.0.0.1:8100', site.url)
  const policy = `default-src 'none'; script-src ${site.url}; connect-src ${site.url}; style-src 'unsafe-inline'; ${workers}`
  return startHttpServer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(html)
  })
}

test('the bubble on an allowed site answers, and keeps the chat after a reload', async () => {
  const owner = await insertUser(site.service)
  const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'Open' })
  const elsewhere = await otherSite(assistantId)
  const config = { 'type==agent/access_mode': 'public_no_auth', 'type==agent/allowed_origins': [elsewhere.url] }
  await owner.call('PUT', `/assistants/${assistantId}`, { name: 'Open', config })

  const page = await site.newPage()
  await page.goto(elsewhere.url)
  await page.getByRole('button', { name: 'Open the chat' }).click()
  await page.getByText('Good day!').waitFor()
  const left = Promise.withResolvers<void>()
  site.model.reply({ text: ['It opens at **six**.', left.promise, ' Always.'] })
  await page.getByRole('textbox', { name: 'Message' }).fill('When does it open?')
  await page.keyboard.press('Enter')
  await page.locator('.ai strong', { hasText: 'six' }).waitFor()
  await site.picture(page, 'embed', { size: { width: 1600, height: 800 } })
  await page.reload()
  await page.getByRole('button', { name: 'Open the chat' }).click()
  await page.locator('.ai strong', { hasText: 'six' }).waitFor()
  left.resolve()
  const hours = '| Day | Closes |\n| --- | --: |\n| Monday | 16:00 |'
  site.model.reply({ text: `At four. <img src=x onerror=alert(1)> ![x](http://127.0.0.1:1/x.png)\n\n${hours}` })
  await page.getByRole('textbox', { name: 'Message' }).fill('And when does it close?')
  await page.keyboard.press('Enter')
  await page.getByText('At four.').waitFor()
  expect(await page.locator('.ai img').count()).toBe(0)
  expect(await page.getByRole('cell', { name: '16:00' }).getAttribute('align')).toBe('right')
  // Read as Markdown it would take seconds.
  site.model.reply({ text: '*a_ '.repeat(5000) })
  await page.getByRole('textbox', { name: 'Message' }).fill('And in between?')
  await page.keyboard.press('Enter')
  await page.locator('.ai .plain', { hasText: '*a_ *a_' }).waitFor()
  expect(JSON.stringify(site.model.requests.at(-1)?.body.messages)).toContain('When does it open?')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Open the chat' }).waitFor()
  await elsewhere.close()
})

test('a site that is not allowed gets no answer', async () => {
  const owner = await insertUser(site.service)
  const config = {
    'type==agent/access_mode': 'public_no_auth',
    'type==agent/allowed_origins': ['https://ours.example'],
  }
  const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'Open', config })
  const elsewhere = await otherSite(assistantId, '')
  const page = await site.newPage()
  await page.goto(elsewhere.url)
  await page.getByRole('button', { name: 'Open the chat' }).click()
  // Where no worker may be started, the page reads Markdown itself.
  await page.locator('.ai p', { hasText: 'Good day!' }).waitFor()
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello?')
  await page.keyboard.press('Enter')
  await page.getByText(`This site (${elsewhere.url}) is not among those that may use this chat.`).waitFor()
  await elsewhere.close()
  // The browser says so too.
  site.problems.splice(
    0,
    site.problems.length,
    ...site.problems.filter((text) => !/CORS policy|Creating a worker/.test(text)),
  )
})

test('the script is one file of at most 40 KB', async () => {
  const { headers } = await fetch(`${site.url}/embed.js`, { headers: { 'accept-encoding': 'br' } })
  expect(headers.get('content-encoding')).toBe('br')
  expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
  const bytes = Number(headers.get('content-length'))
  expect(bytes).toBeGreaterThan(1000)
  expect(bytes).toBeLessThan(40_000)
})

test("the operator's name, colour and logo are on every page, and in the snippet of the bubble", async () => {
  const visitor = await site.newPage()
  for (const address of ['/login', '/admin/']) {
    await visitor.goto(`${site.url}${address}`)
    await visitor.locator('h1').first().waitFor()
    expect(await visitor.title()).toContain('Pilot & Sons')
    const accent = "getComputedStyle(document.documentElement).getPropertyValue('--accent')"
    expect(await visitor.evaluate(accent)).toBe('#0f766e')
  }
  expect((await fetch(`${site.url}/icon.svg`)).headers.get('content-type')).toBe('image/png')
  const installed: any = await (await fetch(`${site.url}/manifest.webmanifest`)).json()
  expect(installed).toMatchObject({ name: 'Pilot & Sons', icons: [{ src: '/icon.svg', type: 'image/png' }] })

  const { page, assistantId, user } = await site.signedIn()
  await page.locator('.sidebar').getByText('Pilot & Sons').waitFor()
  for (const theme of ['light', 'dark']) {
    await page.evaluate((name) => localStorage.setItem('assistant-platform.theme', name), theme)
    await page.reload()
    await page.locator('.hello-title').waitFor()
    await site.expectAccessible(page, `an own colour (${theme})`)
  }
  await page.evaluate(() => localStorage.removeItem('assistant-platform.theme'))
  const config = { 'type==agent/access_mode': 'public_no_auth' }
  await user.call('PUT', `/assistants/${assistantId}`, { name: 'Harbour guide', config })
  await page.goto(`${site.url}/console/assistants/${assistantId}?tab=publish`)
  // Before it is copied: no browser would let it answer anywhere.
  const warning = page.locator('.snippet .notice-warn')
  await warning.waitFor()
  await page.getByRole('textbox', { name: 'Sites that may call it' }).fill('https://ours.example')
  await warning.waitFor({ state: 'detached' })
  await page.getByRole('textbox', { name: 'Sites that may call it' }).fill('')
  await warning.waitFor()
  const snippet = (await page.locator('.snippet code').first().textContent()) ?? ''
  expect(snippet).toContain('data-title="Pilot &amp; Sons"')

  const preview = page.frameLocator('iframe[title="Preview of the chat bubble"]')
  await preview.getByRole('dialog', { name: 'Pilot & Sons' }).waitFor()
  await page.getByLabel('Title of the chat').fill('Ask "us"')
  await page.getByLabel('Light or dark').selectOption('dark')
  await page.getByLabel('Language').selectOption('de')
  const own = (await page.locator('.snippet code').first().textContent()) ?? ''
  expect(own).toContain(
    'data-title="Ask &quot;us&quot;"\n  data-color="#0f766e"\n  data-theme="dark"\n  data-language="de"',
  )
  await page.getByLabel('Choose a colour').fill('#8a2be2')
  expect(await page.getByLabel('Colour', { exact: true }).inputValue()).toBe('#8a2be2')
  await page.getByLabel('Colour', { exact: true }).fill('#aa33')
  await page.getByLabel('Greeting').fill('Moin!')
  await preview.getByText('Moin!').waitFor()
  await preview.locator('assistant-chat[data-theme="dark"]').waitFor()
  expect(await preview.locator('assistant-chat').count()).toBe(1)
  await page.getByText('The preview shows your changes').waitFor()
  await page.getByLabel('Colour', { exact: true }).fill('')
  await site.expectAccessible(page, 'the settings of the bubble')
  site.model.reply({ text: 'From the preview.' })
  await preview.getByRole('textbox', { name: 'Nachricht' }).fill('Hello?')
  await preview.getByRole('textbox', { name: 'Nachricht' }).press('Enter')
  await preview.getByText('From the preview.').waitFor()

  await page.getByLabel('Public page').check()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Answers in the preview are runs').waitFor()
  const address = await page.getByRole('link', { name: `/a/${assistantId}` }).getAttribute('href')
  expect(address).toBe(`${site.url}/a/${assistantId}`)
  const guest = await site.newPage()
  await guest.goto(address ?? '')
  await guest.getByRole('heading', { name: 'Ask "us"' }).waitFor()
  await guest.getByText('Moin!').waitFor()
  expect(await guest.evaluate('document.documentElement.lang')).toBe('de')

  const elsewhere = await startHttpServer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>Elsewhere</h1>${snippet}`)
  })
  const foreign = await site.newPage()
  await foreign.goto(elsewhere.url)
  const opener = foreign.getByRole('button', { name: 'Open the chat' })
  await opener.waitFor()
  const color = `getComputedStyle(document.querySelector('assistant-chat').shadowRoot.querySelector('.opener')).backgroundColor`
  expect(await foreign.evaluate(color)).toBe('rgb(15, 118, 110)')
  await opener.click()
  await foreign.getByRole('dialog', { name: 'Pilot & Sons' }).waitFor()
  await elsewhere.close()
})

test('the bubble follows the page, offers starters, stops, begins anew, speaks German, and says until when it is at its limit', async () => {
  const owner = await insertUser(site.service)
  const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'Open' })
  const script = (more: string) =>
    `<script src="${site.url}/embed.js" data-assistant="${assistantId}" data-starters="When is high tide?|What does a berth cost?" ${more}></script>`
  const elsewhere = await startHttpServer(async ({ url = '' }, response) => {
    const more = url === '/de' ? 'data-language="de" data-theme="dark"' : ''
    const style = url === '/' ? 'background: #101010' : ''
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<!doctype html><html lang="en"><title>Elsewhere</title><body style="${style}">${script(more)}`)
  })
  const config = { 'type==agent/access_mode': 'public_no_auth', 'type==agent/allowed_origins': [elsewhere.url] }
  await owner.call('PUT', `/assistants/${assistantId}`, { name: 'Open', config })
  const page = await site.newPage()
  await page.goto(elsewhere.url)
  await page.locator('assistant-chat[data-theme="dark"]').waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Open the chat' }).click()
  await site.expectAccessible(page, 'the bubble on a dark page')
  const never = Promise.withResolvers<void>()
  site.model.reply({ text: ['At four, ', never.promise, 'perhaps.'] })
  await page.getByRole('button', { name: 'When is high tide?' }).click()
  await page.locator('.ai', { hasText: 'At four,' }).waitFor()
  expect(await page.getByRole('button', { name: 'What does a berth cost?' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Stop the answer' }).click()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  const openRuns = () => site.service.collections.runs.countDocuments({ assistant_id: assistantId, status: 'running' })
  await expect.poll(openRuns).toBe(0)
  expect(await site.service.collections.runs.countDocuments({ assistant_id: assistantId, status: 'cancelled' })).toBe(1)
  never.resolve()
  expect(await page.locator('.ai').last().textContent()).toContain('At four,')
  await page.getByRole('button', { name: 'Begin a new chat' }).click()
  await page.getByRole('button', { name: 'What does a berth cost?' }).waitFor()
  expect(await page.locator('.human').count()).toBe(0)

  // A page that says nothing of its colours is white for everybody.
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(`${elsewhere.url}/plain`)
  await page.locator('assistant-chat[data-theme="light"]').waitFor({ state: 'attached' })
  await page.emulateMedia({ colorScheme: 'light' })

  await page.goto(`${elsewhere.url}/de`)
  await page.locator('assistant-chat[data-theme="dark"]').waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Chat öffnen' }).click()
  await page.getByText('Guten Tag! Wie kann ich helfen?').waitFor()

  await owner.put(`/assistants/${assistantId}/budget`, { runs: 1 })
  await page.goto(elsewhere.url)
  await page.getByRole('button', { name: 'Open the chat' }).click()
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello?')
  await page.keyboard.press('Enter')
  await page.getByText(/^No more answers can be given for now\. Please try again after .*\d/).waitFor()
  await elsewhere.close()
})

/** Whether it is written in the console's typeface, which is there. */
const typefaceOf = (selector: string) => `(() => {
  const { fontFamily } = getComputedStyle(document.querySelector('${selector}'))
  return fontFamily.startsWith('"Figtree Variable"') && [...document.fonts].some(({ status }) => status === 'loaded')
})()`

test('a public page, on a phone too: light and dark, starters, sources that open, and what a link without token says', async () => {
  const owner = await knowledgeClient(await insertUser(site.service))
  const { assistantId } = owner
  const text = '# Fees\n\nA berth costs 48 marks a night. Light is included.\n'
  const uploaded = await owner.upload([{ name: 'notes.md', content: text }])
  expect(uploaded.status).toBe(200)
  const config = {
    'type==agent/access_mode': 'public_no_auth',
    'type==agent/public_page': true,
    'type==agent/description': 'Knows what a place in the harbour costs.',
    'type==agent/starters': ['What does a berth cost?'],
  }
  const put = (change: object) =>
    owner.call('PUT', `/assistants/${assistantId}`, { name: 'Harbour guide', config: { ...config, ...change } })
  await put({})
  const page = await site.newPage()
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    await page.goto(`${site.url}/a/${assistantId}`)
    await page.locator(`assistant-chat[data-theme="${theme}"]`).waitFor()
    await page.getByRole('heading', { name: 'Harbour guide' }).waitFor()
    await page.getByText('Knows what a place in the harbour costs.').waitFor()
    await expect.poll(() => page.evaluate(typefaceOf('assistant-chat'))).toBe(true)
    await site.expectAccessible(page, `the public page (${theme})`)
  }
  await page.setViewportSize({ width: 360, height: 740 })
  site.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'berth' } }] })
  site.model.reply({ text: 'A berth costs 48 marks (notes.md, Fees).' })
  await page.getByRole('button', { name: 'What does a berth cost?' }).click()
  const mark = page.getByRole('button', { name: 'Source 1: notes.md' })
  await mark.click()
  const source = page.getByRole('region', { name: 'Source 1: notes.md' })
  await source.getByText('Light is included.').waitFor()
  expect(await source.locator('mark').textContent()).toBe('A berth costs 48 marks a night.')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await site.expectAccessible(page, 'a source on a phone')
  expect(await page.getByText('Knows what a place in the harbour costs.').isVisible()).toBe(false)
  await page.keyboard.press('Escape')
  await source.waitFor({ state: 'hidden' })
  await site.picture(page, 'public-page', { size: { width: 1280, height: 720 } })
  await page.reload()
  await mark.click()
  await source.getByText('Light is included.').waitFor()

  const token = `token-${crypto.randomUUID()}`
  await put({ 'type==agent/access_mode': 'public_token', 'type==agent/public_token': token })
  const guest = await site.newPage()
  await guest.goto(`${site.url}/a/${assistantId}`)
  const ask = async (text: string) => {
    await guest.getByRole('textbox', { name: 'Message' }).fill(text)
    await guest.keyboard.press('Enter')
  }
  await ask('Hello?')
  await guest.getByText('This link is not complete.').waitFor()
  await guest.goto(`${site.url}/a/${assistantId}#${token}`)
  await guest.reload()
  site.model.reply({ text: 'With the token.' })
  await ask('Hello again?')
  await guest.getByText('With the token.').waitFor()
  await put({ 'type==agent/public_page': false })
  await guest.reload()
  await guest.getByRole('heading', { name: 'No such page' }).waitFor()
  await expect.poll(() => guest.evaluate(typefaceOf('h1'))).toBe(true)
  await site.expectAccessible(guest, 'a page that is not there')
})

test('what the model thinks unfolds where the owner shows it, and folds when the answer begins', async () => {
  const owner = await insertUser(site.service)
  const config = {
    'type==agent/access_mode': 'public_no_auth',
    'type==agent/public_page': true,
    'type==agent/show_reasoning': true,
  }
  const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'Harbour guide', config })
  const page = await site.newPage()
  await page.goto(`${site.url}/a/${assistantId}`)
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const thought = Promise.withResolvers<void>()
  site.model.reply({
    raw: [
      chunk({ reasoning_content: 'In winter it opens late.' }),
      thought.promise,
      `${chunk({ content: 'At eight.' }, 'stop')}data: [DONE]\n\n`,
    ],
  })
  await page.getByRole('textbox', { name: 'Message' }).fill('When does it open?')
  await page.keyboard.press('Enter')
  await page.getByText('In winter it opens late.').waitFor()
  expect(await page.locator('summary').textContent()).toMatch(/^Thinking… \d+ s$/)
  await site.expectAccessible(page, 'a thought')
  thought.resolve()
  await page.getByText('At eight.').waitFor()
  await page.getByText(/^Thought for \d+ s$/).click()
  await page.getByText('In winter it opens late.').waitFor()
})
