import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { noise, pdfOf, scanOf } from '../support/scans.ts'
import { useStarted } from '../support/use-started.ts'
import { say, startConsole } from './support.ts'

const site = useStarted(() => startConsole({ OUTBOUND_ALLOW: '127.0.0.1' }))

const instructions =
  'You answer the questions of skippers. Be brief, name the page that you quote, and say so when you do not know.'
const pdfFile = { mimeType: 'application/pdf' }
/** A scanned page, and a photograph. */
const scan = async () =>
  pdfOf([await scanOf(pdfOf(['The lantern of the eastern mole wants a new lens.'])), noise(200, 200)])
const pdf = {
  name: 'harbour-report.pdf',
  ...pdfFile,
  buffer: readFileSync(new URL('../knowledge/fixtures/harbour-ghostscript.pdf', import.meta.url)),
}

test('an assistant is created and edited, and refusals appear beside the form', async () => {
  const { page, user } = await site.signedIn()
  await page.getByRole('link', { name: 'Assistants' }).click()
  await page.getByRole('button', { name: 'New assistant' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Pilot')
  await page.getByRole('dialog').getByRole('button', { name: 'New assistant' }).click()
  await page.getByRole('heading', { name: 'Pilot' }).waitFor()
  await page.getByLabel('Description').fill('Answers questions about tides, berths and fees.')
  await page.getByLabel('Instructions').fill(instructions)
  await page.getByText('How the model answers').click()
  await page.getByLabel('Maximum steps of an answer').fill('999')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Maximum steps of an answer').fill('5')
  await page.getByLabel('Ask before tools are used').check()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  await site.expectAccessible(page, 'settings of an assistant')
  await page.getByRole('heading', { name: 'Pilot' }).scrollIntoViewIfNeeded()
  await site.picture(page, 'assistant-settings', { size: { width: 1280, height: 900 } })
  const [, pilot] = (await user.call('GET', '/assistants/')).body
  expect(pilot.config).toEqual({
    'type==agent/description': 'Answers questions about tides, berths and fees.',
    'type==agent/system_message': instructions,
    'type==agent/max_steps': 5,
    'type==agent/interrupt_before_action': true,
  })
})

test('files of another embedding model are embedded anew from the page', async () => {
  const { page, assistantId } = await site.signedIn()
  const tab = async () => {
    await page.goto(`${site.url}/console/assistants/${assistantId}`)
    await page.getByRole('tab', { name: 'Knowledge' }).click()
  }
  await tab()
  await page.locator('.drop input[type=file]').setInputFiles(pdf)
  await page.getByText('Ready', { exact: true }).waitFor()
  const start = page.getByRole('button', { name: 'Embed them anew' })
  expect(await start.count()).toBe(0)
  // As after a change of EMBEDDING_MODEL.
  const { assistants } = site.service.collections
  const modelOfFiles = async () => String((await assistants.findById(assistantId).lean())?.embedding_model)
  const model = await modelOfFiles()
  const $set = { embedding_model: 'an older model' }
  await assistants.updateOne({ _id: assistantId }, { $set })
  await tab()
  await page.getByText('Before: an older model. Now:').waitFor()
  await page.evaluate(() => localStorage.setItem('assistant-platform.language', 'de'))
  await assistants.updateOne({ _id: assistantId }, { $set: { embedding_model: 'small (built in, 384 dimensions)' } })
  await page.goto(`${site.url}/console/assistants/${assistantId}?tab=knowledge`)
  await page.getByText('Vorher: small (eingebaut, 384 Dimensionen). Jetzt:').waitFor()
  await page.evaluate(() => localStorage.removeItem('assistant-platform.language'))
  await assistants.updateOne({ _id: assistantId }, { $set })
  await tab()
  await site.expectAccessible(page, 'files of another embedding model')
  await start.click()
  await expect.poll(modelOfFiles, { timeout: 60_000 }).toBe(model)
  await page.getByText('Before: an older model. Now:').waitFor({ state: 'detached' })
  await page.getByLabel('Enter a question').fill('What did the dredging cost?')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.locator('.passage', { hasText: '73,500' }).waitFor()

  // One that was given up says why, and continues.
  const reembedding = { generation: 7, model, started_at: new Date(), error: 'The text was refused.' }
  await assistants.updateOne({ _id: assistantId }, { $set: { ...$set, reembedding, last_generation: 7 } })
  await tab()
  await page.getByText('The text was refused.').waitFor()
  await site.expectAccessible(page, 'files that could not be embedded anew')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The text was refused.').waitFor({ state: 'detached' })
  await expect.poll(modelOfFiles, { timeout: 60_000 }).toBe(model)
})

test('an owner keeps questions, runs the evaluation, and compares it with the one before', async () => {
  const { page, user, assistantId } = await site.signedIn()
  await page.goto(`${site.url}/console/assistants/${assistantId}`)
  await page.getByRole('tab', { name: 'Knowledge' }).click()
  await page.locator('.drop input[type=file]').setInputFiles(pdf)
  await page.getByText('Ready', { exact: true }).waitFor()
  const card = page.locator('section', { has: page.getByRole('heading', { name: 'Evaluation' }) })
  const add = async (question: string, onPage: string) => {
    await card.getByLabel('New question').fill(question)
    await card.getByLabel('Page (optional)').fill(onPage)
    await card.getByRole('button', { name: 'Add the question' }).click()
    await card.getByRole('rowheader', { name: question }).waitFor()
  }
  await add('What did the dredging of the western basin cost?', '1')
  await add('Who painted the lighthouse?', '77')
  const run = card.getByRole('button', { name: 'Run the evaluation' })
  await run.click()
  const earlier = card.getByRole('table').nth(1)
  await earlier.getByRole('cell', { name: '50 %' }).first().waitFor()
  await card.getByRole('cell', { name: 'not found' }).waitFor()
  await site.expectAccessible(page, 'an evaluation')
  await card.getByRole('button', { name: 'Remove “Who painted the lighthouse?”' }).click()
  await card.getByRole('rowheader', { name: 'Who painted the lighthouse?' }).waitFor({ state: 'detached' })
  await run.click()
  await earlier.getByRole('cell', { name: '100 % (+50)' }).first().waitFor()
  const { body } = await user.call('GET', `/assistants/${assistantId}/evaluation`)
  expect(body.runs.map(({ right }: { right: { first: number } }) => right.first)).toEqual([1, 0.5])
  await page.setViewportSize({ width: 390, height: 844 })
  const isWithin = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth'
  expect(await page.evaluate<boolean>(isWithin)).toBe(true)
  await site.expectAccessible(page, 'an evaluation on a telephone')
})

test('a file is processed, searched, opened, cited in a chat, and deleted', async () => {
  const { page } = await site.signedIn()
  await page.getByRole('link', { name: 'Assistants' }).click()
  await page.getByRole('link', { name: 'Harbour guide' }).click()
  await page.getByRole('tab', { name: 'Knowledge' }).click()
  await page
    .locator('.drop input[type=file]')
    .setInputFiles([{ name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) }])
  await page.getByText('Failed', { exact: true }).waitFor()
  await page.locator('.drop input[type=file]').setInputFiles(pdf)
  await page.getByText('Ready', { exact: true }).waitFor()
  // The page says that a file is deleted when it can be used again, however long the list of files takes.
  await page.getByRole('button', { name: 'Delete: empty.txt' }).click()
  await page.route(/\/files(\?|$)/, async (route) => {
    await setTimeout(1000)
    await route.continue()
  })
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('“empty.txt” and 0 passages are deleted.').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.getByLabel('Enter a question').fill('What did the dredging cost?')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.locator('.passage', { hasText: '73,500' }).waitFor()
  await page.locator('.drop input[type=file]').setInputFiles({ name: 'scan.pdf', ...pdfFile, buffer: await scan() })
  await page.getByText(/1 page read from pictures \(\d+ % sure\)/).waitFor()
  await page.getByText('No legible words on page 2').waitFor()
  await site.expectAccessible(page, 'knowledge')
  await site.picture(page, 'assistant-knowledge', { size: { width: 1280, height: 800 } })
  await page.getByRole('button', { name: 'Delete: scan.pdf' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText(/“scan.pdf” and \d+ passages? (is|are) deleted/).waitFor()
  await page.getByRole('button', { name: /^Show the passages/ }).click()
  await page.getByRole('dialog').locator('.passage').first().waitFor()
  await page.keyboard.press('Escape')

  await page.getByRole('link', { name: 'Chat', exact: true }).click()
  site.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'dredging cost' } }] })
  site.model.reply({
    text: 'According to the harbour report, the dredging of the western basin cost **73,500 marks** (harbour-report.pdf, page 1).\n\nThe report also says:\n\n- The *Nordstern* carried coal.',
  })
  await say(page, 'What did the dredging of the western basin cost?')
  await page.getByText('Sources').waitFor()
  await site.expectAccessible(page, 'a cited answer')
  await site.picture(page, 'chat-light')
  await page.evaluate(() => localStorage.setItem('assistant-platform.theme', 'dark'))
  await page.reload()
  await page.getByText('Sources').waitFor()
  await site.expectAccessible(page, 'a cited answer in the dark')
  await site.picture(page, 'chat-dark')
  await page.evaluate(() => localStorage.removeItem('assistant-platform.theme'))
  await page.reload()
  await page.locator('.mark').click()
  await page.locator('.pdf-sheet[data-ready="true"]').waitFor()
  await page.locator('.pdf-text', { hasText: '73,500' }).waitFor()
  await site.picture(page, 'source')
  await page.keyboard.press('Escape')

  await page.getByRole('link', { name: 'Harbour guide' }).click()
  await page.getByRole('tab', { name: 'Knowledge' }).click()
  await page.getByRole('button', { name: 'Delete: harbour-report.pdf' }).click()
  await page.getByText(/made from it\. Answers can no longer cite it/).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText(/are deleted\./).waitFor()
})

test('Back goes through the tabs of an assistant one by one, with what was changed, and then leaves it', async () => {
  const { page } = await site.signedIn()
  await page.getByRole('link', { name: 'Assistants' }).click()
  await page.getByRole('link', { name: 'Harbour guide' }).click()
  const isOpen = (name: string) => page.getByRole('tab', { name, selected: true }).waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Harbour master')
  for (const name of ['Knowledge', 'Publish']) {
    await page.getByRole('tab', { name }).click()
    await isOpen(name)
  }
  await page.goBack()
  await isOpen('Knowledge')
  await page.goForward()
  await isOpen('Publish')
  await page.goBack()
  await page.goBack()
  await isOpen('Settings')
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Harbour master')
  await page.goBack()
  await page.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { name: 'Assistants' }).waitFor()
})

test('a phone that is turned keeps the open tab in the middle, and the page at its place', async () => {
  const { page, assistantId } = await site.signedIn({ 'type==agent/access_mode': 'public_no_auth' })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${site.url}/console/assistants/${assistantId}?tab=publish`)
  await page.getByRole('tab', { name: 'curl' }).waitFor()
  const fromMiddle = () =>
    page.getByRole('tab', { name: 'Publish' }).evaluate((tab) => {
      const row = tab.parentElement?.getBoundingClientRect() ?? { left: 0, width: 0 }
      const { left, width, top } = tab.getBoundingClientRect()
      return { aside: Math.abs(left + width / 2 - row.left - row.width / 2), top }
    })
  const atFirst = await fromMiddle()
  expect(atFirst.aside).toBeLessThan(40)
  // The tabs of the snippets, further down, have not moved the page.
  expect(atFirst.top).toBeGreaterThan(0)
  await page.setViewportSize({ width: 844, height: 390 })
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(async () => (await fromMiddle()).aside).toBeLessThan(40)
  expect((await fromMiddle()).top).toBe(atFirst.top)
})

test('an assistant is published with a token, and its snippet works', async () => {
  const { page, assistantId } = await site.signedIn()
  await page.getByRole('link', { name: 'Assistants' }).click()
  await page.getByRole('link', { name: 'Harbour guide' }).click()
  await page.getByRole('tab', { name: 'Publish' }).click()
  // It is chosen at once, and not any more when there is no token to be had.
  await page.route('**/public-token', (route) => route.fulfill({ status: 503, json: { detail: 'No.' } }))
  await page.getByLabel('Everybody with the token').click()
  await page.locator('.toast').waitFor()
  await expect.poll(() => page.getByLabel('Only you').isChecked()).toBe(true)
  await page.unroute('**/public-token')
  await page.getByLabel('Everybody with the token').check()
  await page.getByRole('button', { name: 'Make a new token' }).waitFor()
  await page.getByLabel('Sites that may call it from the browser').fill('https://www.example.com')
  await page.getByLabel('Public page').check()
  await page.getByLabel('Most answers a day').fill('1')
  await page.getByText('Save first; then these work as they are.').waitFor()
  // One button saves all three steps. What was typed outlives a look at another tab.
  await page.getByRole('tab', { name: 'Knowledge' }).click()
  await page.getByRole('tab', { name: 'Publish' }).click()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  await page.getByText('Published', { exact: true }).waitFor()
  await page.getByText('0 of 1', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Save changes' }).count()).toBe(0)
  await site.expectAccessible(page, 'publish')
  const address = (await page.getByRole('link', { name: `/a/${assistantId}#` }).getAttribute('href')) ?? ''
  const visitor = await site.newPage()
  await visitor.goto(address)
  await visitor.getByRole('heading', { name: 'Harbour guide' }).waitFor()
  await visitor.close()
  await site.picture(page, 'assistant-publish', { size: { width: 1280, height: 800 } })
  await page.locator('.snippet pre', { hasText: 'data-assistant="' + assistantId }).waitFor()
  const snippet = (await page.locator('.snippet pre', { hasText: 'curl' }).textContent()) ?? ''
  const token = /Bearer (\S+)'/.exec(snippet)?.[1] ?? ''
  site.model.reply({ text: 'Hello, stranger.' })
  const response = await fetch(`${site.url}/public/compat/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  expect(JSON.stringify(await response.json())).toContain('Hello, stranger.')
  await page.getByRole('tab', { name: 'Model account' }).click()
  await page.getByLabel('API key').fill('sk-some-long-key')
  await page.getByLabel('Base URL').fill(site.model.url)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('In use').waitFor()
  expect(await page.content()).not.toContain('sk-some-long-key')
})
