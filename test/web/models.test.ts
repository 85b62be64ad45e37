import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { insertUser } from '../support/users.ts'
import { type Console, say, startConsole } from './support.ts'

let site: Console
let real: ScriptedModel
beforeAll(async () => {
  real = await startScriptedModel({
    respond: ({ body }) =>
      body.tools?.length
        ? { toolCalls: [{ name: 'weather', arguments: { city: 'Paris' } }] }
        : { text: ['An answer ', 'of a real model.'], usage: { prompt_tokens: 1000, completion_tokens: 500 } },
  })
  const found = [{ name: 'Ollama', base_url: real.url, models: [{ id: 'llama3.2', max_model_len: 131_072 }] }]
  site = await startConsole({
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

test('the first login leads to the model page, where an operator connects a model that then answers', async () => {
  const user = await insertUser(site.service)
  const assistantId = String((await user.post('/assistants/', { name: 'Harbour guide' })).assistant_id)
  const page = await site.newPage(user.token)
  await page.goto(`${site.url}/console/chat`)
  await page.getByRole('heading', { name: 'Connect a model', level: 2 }).waitFor()
  await site.expectAccessible(page, 'the lead to the model page')
  await page.getByRole('link', { name: 'Open the model page' }).click()
  await page.getByLabel('Admin token').fill(site.service.env['ADMIN_TOKEN'] ?? '')
  await page.getByRole('button', { name: 'Enter' }).click()
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
  await dialog.getByText('The server could not be reached.').waitFor()
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
  await site.picture(page, 'models', { size: { width: 1280, height: 1100 } })

  // The assistant's settings offer what is served; the chat, too.
  await page.goto(`${site.url}/console/assistants/${assistantId}`)
  await page.getByLabel('Model', { exact: true }).selectOption({ label: 'scripted · 128K tokens' })
  expect(await page.getByLabel('Temperature').isVisible()).toBe(false)
  await page.getByText('How the model answers').click()
  await page.getByLabel('Temperature').waitFor()
  await page.getByLabel('Model', { exact: true }).selectOption('Other …')
  await page.getByLabel('Name of the model').fill('unlisted')
  await site.expectAccessible(page, 'the choice of a model')

  await page.goto(`${site.url}/console/chat?assistant=${assistantId}`)
  await page.getByLabel('Model', { exact: true }).selectOption('large')
  await say(page, 'What does it cost?')
  await page.getByText('An answer of a real model.', { exact: true }).waitFor()
  // 1,000 tokens at 10 and 500 at 20 for a million.
  await page.getByText('$0.02', { exact: false }).first().waitFor()
  await page.getByText('This chat: $0.02').waitFor()
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
