import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ChatRequest,
  type ScriptedModel,
  type ScriptedReply,
  startScriptedModel,
} from '../support/scripted-model.ts'
import { goodPassword, insertUser, newEmail } from '../support/users.ts'
import { type Console, look, say, startConsole } from './support.ts'

interface ModelSettings {
  servers: { server_id: string; source: string }[]
}

let site: Console
let real: ScriptedModel
beforeAll(async () => {
  real = await startScriptedModel({
    respond: ({ body }) =>
      isAbout(body, 'What does a crane cost?')
        ? ofCranes(body)
        : body.tools?.length
          ? { toolCalls: [{ name: 'weather', arguments: { city: 'Paris' } }] }
          : { text: ['An answer ', 'of a real model.'], usage: { prompt_tokens: 1000, completion_tokens: 500 } },
  })
  const found = [{ name: 'Ollama', base_url: real.url, models: [{ id: 'llama3.2', max_model_len: 131_072 }] }]
  site = await startConsole({
    LOCAL_PAGE: 'true',
    DEMO_MODEL: 'on',
    OPENAI_API_KEY: 'demo',
    DEFAULT_MODEL: 'demo-model',
    MODEL_SERVERS_FOUND: JSON.stringify([
      ...found,
      { name: 'LM Studio', base_url: `${real.url}/2`, models: [{ id: 'other' }] },
    ]),
  })
})
afterAll(async () => {
  await site.close()
  await real.close()
})

const isAbout = ({ messages }: ChatRequest['body'], question: string) =>
  messages.some(({ content }) => JSON.stringify(content ?? '').includes(question))

/** Searches the files, then answers with the place. */
function ofCranes({ messages }: ChatRequest['body']): ScriptedReply {
  return messages.at(-1)?.role === 'tool'
    ? { text: 'A crane costs 80 marks an hour (fees.md, Fees).' }
    : { toolCalls: [{ name: 'retrieval', arguments: { query: 'crane' } }] }
}

test('from the first page to an answer with its source: no code to fetch, no token to look for', async () => {
  const email = newEmail()
  const page = await site.newPage()
  let clicks = 0
  const click = async (target: Locator) => {
    clicks += 1
    await target.click()
  }
  const startedAt = performance.now()
  await page.goto(`${site.url}/`)
  await click(page.getByRole('link', { name: 'Create an account' }))
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await click(page.getByRole('button', { name: 'Create an account' }))
  await click(page.getByRole('button', { name: /^Use the code \d{6}$/ }))
  const tile = page.getByRole('group', { name: 'On this machine' })
  await click(tile.getByRole('button', { name: 'Use Ollama' }))
  await page.getByText('scripted answers from now on.').waitFor()
  await page.getByRole('region', { name: 'Connect a model' }).waitFor({ state: 'detached' })
  const choosing = page.waitForEvent('filechooser')
  await click(page.getByRole('button', { name: 'Ask about your files' }))
  const buffer = Buffer.from('# Fees\n\nA crane costs 80 marks an hour.\n')
  await (await choosing).setFiles({ name: 'fees.md', mimeType: 'text/markdown', buffer })
  await page.locator('.attachment[data-phase="ready"]').waitFor()
  await say(page, 'What does a crane cost?')
  await page.locator('.markdown .mark', { hasText: '1' }).waitFor()
  const seconds = (performance.now() - startedAt) / 1000
  console.log(`from / to an answer with its source: ${seconds.toFixed(1)} s and ${clicks} clicks`)
  expect(clicks).toBeLessThanOrEqual(6)
  // As it was before: the other tests begin without a model.
  const headers = { authorization: `Bearer ${site.service.env['ADMIN_TOKEN']}` }
  const list = (await (await fetch(`${site.url}/admin/models`, { headers })).json()) as ModelSettings
  for (const { server_id: id } of list.servers.filter(({ source }) => source === 'stored'))
    await fetch(`${site.url}/admin/models/servers/${id}`, { method: 'DELETE', headers })
  const user = await insertUser(site.service)
  await expect.poll(async () => (await user.get('/user/models')).is_demo, { timeout: 30_000 }).toBe(true)
})

test('a new chat without a model has three ways to one, which can be put off', async () => {
  const { page } = await site.signedIn()
  const tiles = page.getByRole('region', { name: 'Connect a model' })
  await tiles.getByRole('button', { name: 'Use LM Studio' }).waitFor()
  for (const theme of ['light', 'dark'])
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 })
      await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      await site.expectAccessible(page, `a new chat without a model (${theme}, ${width})`)
      await look(page, `first-model-${theme}-${width}`)
    }
  // The field of a key knows whose key it is.
  const key = tiles.getByRole('group', { name: 'With a key' })
  await key.getByLabel('Key').fill('sk-ant-something')
  expect(await key.getByLabel('Provider').inputValue()).toBe('Anthropic')
  const other = tiles.getByRole('group', { name: 'Another address' })
  await other.getByLabel('Address').fill('http://127.0.0.1:9/v1')
  await other.getByRole('button', { name: 'Connect' }).click()
  await other.getByText('The server could not be reached. See whether it runs').waitFor()
  await tiles.getByRole('button', { name: 'Go on with the demo model' }).click()
  await tiles.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('button', { name: 'Connect a model' }).click()
  await tiles.waitFor()
  // Two servers were found, and one of them has several models: the tile asks which one.
  const asks = page.getByRole('group', { name: 'On this machine' })
  await asks.getByRole('button', { name: 'Use Ollama' }).waitFor()
})

test('only the page of the person at this machine gets the right of the operator', async () => {
  const ask = (headers: Record<string, string>) =>
    fetch(`${site.service.url}/local/operator`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{}',
    })
  const own = await ask({ origin: site.service.url })
  expect(own.status).toBe(200)
  expect(await own.json()).toEqual({ admin_token: site.service.env['ADMIN_TOKEN'] })
  expect((await ask({})).status).toBe(403)
  expect((await ask({ origin: 'https://evil.example' })).status).toBe(403)
  expect((await ask({ origin: site.service.url, 'x-forwarded-for': '203.0.113.9' })).status).toBe(403)
})

test('an operator connects a model that then answers', async () => {
  const user = await insertUser(site.service)
  const assistantId = String((await user.post('/assistants/', { name: 'Harbour guide' })).assistant_id)
  const page = await site.newPage(user.token)
  // At this machine nobody looks for a token.
  await page.goto(`${site.url}/admin/#models`)
  await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
  await page.getByText('Only the demo model answers').waitFor()

  // One that was found is added as it is.
  await page.getByRole('group', { name: 'Ollama' }).getByRole('button', { name: 'Add this server' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Look for models' }).click()
  await dialog.getByRole('checkbox', { name: 'scripted' }).waitFor()
  await site.expectAccessible(page, 'a model server')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })

  // Another is entered, with a key that nobody sees again.
  await page.getByRole('button', { name: 'Add a server' }).click()
  await dialog.getByLabel('Address').fill('http://127.0.0.1:9/v1')
  await dialog.getByRole('button', { name: 'Look for models' }).click()
  await dialog.getByText('The server could not be reached. See whether it runs').waitFor()
  await dialog.getByLabel('Address').fill(real.url.replace(/\/v1$/, ''))
  await dialog.getByLabel('Key', { exact: true }).fill('sk-a-key-that-is-secret')
  await dialog.getByRole('button', { name: 'Look for models' }).click()
  await dialog.getByRole('checkbox', { name: 'scripted' }).waitFor()
  expect(await dialog.getByLabel('Address').inputValue()).toBe(real.url)
  await dialog.getByLabel('Name').first().fill('Own machines')
  await dialog.getByLabel('Another model').fill('large')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  const server = page.getByRole('group', { name: 'Own machines' })
  await server.getByText('key sk-a-…').waitFor()

  await server.getByRole('button', { name: /large/ }).click()
  await dialog.getByRole('button', { name: 'Try it' }).click()
  await dialog.getByText(/first word after/).waitFor()
  await dialog.getByText('The answer does not match the schema.').waitFor()
  await site.expectAccessible(page, 'the trial of a model')
  await page.keyboard.press('Escape')

  await page.getByLabel('Default model').selectOption('large')
  await page.getByLabel('Model that answers while large fails').selectOption('scripted')
  await page.getByLabel('Price of a million tokens read by large').fill('10')
  await page.getByLabel('Price of a million tokens written by large').fill('20')
  await page.locator('form').getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => page.getByLabel('Default model').inputValue()).toBe('large')
  await page.getByText('Only the demo model answers').waitFor({ state: 'detached' })
  await site.expectAccessible(page, 'models')
  // However many words a label or a help needs, the fields of a row stand in one line.
  const tops = `[...document.querySelectorAll('.form-row')].map((row) => new Set([...row.querySelectorAll('input, select')].map((one) => Math.round(one.getBoundingClientRect().top))).size)`
  await page.setViewportSize({ width: 1440, height: 900 })
  expect(await page.evaluate(tops)).toEqual([2])
  await page.setViewportSize({ width: 1280, height: 720 })
  await site.picture(page, 'models', { size: { width: 1280, height: 1100 } })

  // The assistant's settings offer what is served; the chat, too.
  await page.goto(`${site.url}/console/assistants/${assistantId}`)
  await page.getByLabel('Model', { exact: true }).selectOption({ label: 'scripted · 128K tokens' })
  expect(await page.getByLabel('Temperature').isVisible()).toBe(false)
  await page.getByText('How the model answers').click()
  await page.getByLabel('Temperature').waitFor()
  await page.getByLabel('Model', { exact: true }).selectOption('Other…')
  await page.getByLabel('Name of the model').fill('unlisted')
  await site.expectAccessible(page, 'the choice of a model')

  await page.goto(`${site.url}/console/chat?assistant=${assistantId}`)
  await page.getByLabel('Model', { exact: true }).selectOption('large')
  await say(page, 'What does it cost?')
  await page.getByText('An answer of a real model.', { exact: true }).waitFor()
  // 1,000 tokens at 10 and 500 at 20 for a million.
  await page.getByText('$0.02', { exact: false }).first().waitFor()
  await page.getByText('This chat: $0.02').waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator('.chat-cost').getByText('$0.02', { exact: true }).waitFor()
  expect((await page.locator('.chat-cost').boundingBox())?.height).toBeLessThan(30)
  await site.expectAccessible(page, 'what a chat costs on a phone')
  await page.setViewportSize({ width: 1280, height: 720 })
  expect(real.requests.at(-1)?.body.model).toBe('large')
  // Each answer names its model and its time, and another model can answer beside it.
  await expect.poll(() => page.locator('.turn-facts').textContent()).toMatch(/ · large · \d+:\d\d/)
  await page.getByRole('button', { name: 'Answer again with another model' }).click()
  await page.getByRole('menuitem', { name: 'scripted', exact: true }).click()
  await page.getByText('2/2').waitFor()
  await expect.poll(() => page.locator('.turn-facts').textContent()).toContain(' · scripted · ')
  expect(real.requests.at(-1)?.body.model).toBe('scripted')

  await page.goto(`${site.url}/console/usage`)
  await page.getByRole('row', { name: /large/ }).getByText('$0.02').waitFor()
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save as CSV' }).click()
  const file = await (await saving).createReadStream()
  const csv = (await file.toArray()).join('')
  expect(csv).toMatch(/\r\nmodel,large,,1,1000,500,1500,0\.02,usd\r\n/)
  await page.getByLabel('Range').selectOption('The last year')
  await page.getByRole('row', { name: /large/ }).waitFor()
  await site.expectAccessible(page, 'usage')
})
