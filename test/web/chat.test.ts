import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { eventually } from '../support/eventually.ts'
import { useStarted } from '../support/use-started.ts'
import { look, say, startConsole } from './support.ts'

const site = useStarted(() => startConsole({ OUTBOUND_ALLOW: '127.0.0.1' }))

const answer = (page: Page, text: string) => page.locator('.markdown').getByText(text)
const tool = { type: 'http_request', name: 'tide_tables' }

test('an answer streams as Markdown, continues after a reload, and shows its details', async () => {
  const goOn = Promise.withResolvers<void>()
  const markdown = ['# Fees\n\nA berth costs **twelve** marks.\n\n', goOn.promise, '```js\nconst fee = 12\n```\n']
  site.model.reply({ text: markdown })
  const { page } = await site.signedIn()
  await say(page, 'What does a berth cost?')
  await page.locator('strong', { hasText: 'twelve' }).waitFor()
  expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(true)
  await page.reload()
  await page.locator('strong', { hasText: 'twelve' }).waitFor()
  await page.getByText('What does a berth cost?').first().waitFor()
  goOn.resolve()
  await page.locator('code .hljs-keyword', { hasText: 'const' }).waitFor()
  await page.getByText(/15 tokens/).waitFor()
  expect(await page.locator('.turn-ai').count()).toBe(1)
  expect(await page.locator('.bubble').count()).toBe(1)
  expect(await page.title()).toContain('What does a berth cost?')

  await page.getByRole('button', { name: 'Good answer' }).click()
  await page.getByText('Thank you for the feedback.').waitFor()
  await eventually('the feedback', () => site.service.collections.feedback.findOne({ key: 'thumb', score: 1 }).lean())

  await page.getByRole('link', { name: 'Usage' }).click()
  await page.locator('section.card', { hasText: 'By model' }).getByText('scripted').waitFor()
  await page.locator('section.card', { hasText: 'By assistant' }).getByText('Harbour guide').waitFor()
  const plot = page.getByRole('img', { name: 'Tokens by day' })
  await plot.waitFor()
  // On a phone it is drawn anew, not made smaller until nobody can read it.
  await page.setViewportSize({ width: 360, height: 740 })
  const scale = async () => (await plot.boundingBox())?.width ?? 0
  await expect.poll(async () => (await plot.getAttribute('viewBox'))?.split(' ')[2]).toBe(String(await scale()))
})

test('a lost connection is shown, and the answer continues without repetition', async () => {
  const goOn = Promise.withResolvers<void>()
  site.model.reply({ text: ['The first half, ', goOn.promise, 'and the second.'] })
  const { page } = await site.signedIn()
  await say(page, 'Tell me both')
  await answer(page, 'The first half,').waitFor()
  site.proxy.refuse()
  await page.getByText('The connection is lost.').waitFor()
  site.proxy.restore()
  goOn.resolve()
  await answer(page, 'The first half, and the second.').waitFor()
  await page.getByText('The connection is lost.').waitFor({ state: 'detached' })
  expect(await page.locator('.turn-ai').count()).toBe(1)
})

test('without a network the page stays: a part of it that is not loaded yet comes when the network is back', async () => {
  const goOn = Promise.withResolvers<void>()
  site.model.reply({ text: ['The first half, ', goOn.promise, 'and the second.'] })
  const { page } = await site.signedIn()
  await say(page, 'Tell me both')
  await answer(page, 'The first half,').waitFor()
  site.proxy.refuse()
  await page.getByText('The connection is lost.').waitFor()
  await page.getByRole('button', { name: 'Files of this chat' }).click()
  await page.getByRole('link', { name: 'Memory', exact: true }).click()
  await page.getByText('The service cannot be reached.').first().waitFor()
  await page.goBack()
  await answer(page, 'The first half,').waitFor()
  await page.getByRole('button', { name: 'Files of this chat' }).click()
  site.proxy.restore()
  goOn.resolve()
  await page.getByRole('dialog', { name: 'Files of this chat' }).waitFor()
  await page.keyboard.press('Escape')
  await answer(page, 'The first half, and the second.').waitFor()
})

test('stop ends an answer; a message that is sent meanwhile waits for its turn', async () => {
  const never = Promise.withResolvers<void>()
  site.model.reply({ text: ['I will go on and on', never.promise] })
  site.model.reply({ text: 'The second answer.' })
  const { page } = await site.signedIn()
  await say(page, 'Never end')
  await answer(page, 'I will go on and on').waitFor()
  await say(page, 'And then?')
  await page.getByText('Waits until the answer above is complete').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await answer(page, 'The second answer.').waitFor()
  await page.getByText('Stopped', { exact: true }).waitFor()
  never.resolve()
})

test('a stopped answer says what it cost, also in a tab in which nobody stopped it', async () => {
  const never = Promise.withResolvers<void>()
  site.model.reply({ text: ['I will go on and on', never.promise] })
  const { page, user } = await site.signedIn()
  await say(page, 'Never end')
  await answer(page, 'I will go on and on').waitFor()
  const other = await site.newPage(user.token)
  await other.goto(page.url())
  await answer(other, 'I will go on and on').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  for (const tab of [page, other]) await tab.locator('.turn-facts', { hasText: /\d tokens/ }).waitFor()
  never.resolve()
})

test('messages written while another is being sent are kept and sent in order', async () => {
  const { page } = await site.signedIn()
  const box = page.getByRole('textbox', { name: 'Message', exact: true })
  let goOn = Promise.withResolvers<void>()
  await page.route('**/runs/', async (route) => {
    await goOn.promise
    await route.continue()
  })
  for (const text of ['One.', 'Two.', 'Three.', 'Four.']) site.model.reply({ text })
  await say(page, 'First')
  await say(page, 'Second')
  goOn.resolve()
  await answer(page, 'One.').waitFor()
  expect(await box.inputValue()).toBe('Second')
  await page.reload()
  await expect.poll(() => box.inputValue()).toBe('Second')
  await box.press('Enter')
  await answer(page, 'Two.').waitFor()
  goOn = Promise.withResolvers()
  await say(page, 'Third')
  await say(page, 'Fourth')
  goOn.resolve()
  await answer(page, 'Four.').waitFor()
  expect(await page.locator('.bubble').allTextContents()).toEqual(['First', 'Second', 'Third', 'Fourth'])

  goOn = Promise.withResolvers()
  await page.route('**/runs/', async (route) => {
    await goOn.promise
    await route.abort()
  })
  await say(page, 'Lost')
  await box.fill('and more')
  goOn.resolve()
  await expect.poll(() => box.inputValue()).toBe('Lost\n\nand more')
})

test('a message is shown once when the list of runs has it before its own answer comes', async () => {
  const goOn = Promise.withResolvers<void>()
  site.model.reply({ text: ['Answer one', goOn.promise, ' is over.'] })
  site.model.reply({ text: 'Answer two.' })
  const { page } = await site.signedIn()
  await say(page, 'First question')
  await answer(page, 'Answer one').waitFor()
  const isStored = Promise.withResolvers<void>()
  const isListed = Promise.withResolvers<void>()
  await page.route('**/runs/', async (route) => {
    const response = await route.fetch()
    isStored.resolve()
    await isListed.promise
    await route.fulfill({ response })
  })
  await say(page, 'Second question')
  await isStored.promise
  const isShown = Promise.withResolvers<void>()
  await page.route('**/state?**', async (route) => {
    await isShown.promise
    await route.continue()
  })
  const listed = page.waitForResponse((response) => /\/threads\/[^/]+\/runs\?/.test(response.url()))
  goOn.resolve()
  expect((await (await listed).json()).runs).toHaveLength(2)
  isListed.resolve()
  await answer(page, 'Answer two.').waitFor()
  expect(await page.locator('.bubble').allTextContents()).toEqual(['First question', 'Second question'])
  isShown.resolve()
})

test('what is written elsewhere while a chat loads stays there', async () => {
  const { page, user } = await site.signedIn()
  await user.post('/threads/', { name: 'Cranes' })
  const goOn = Promise.withResolvers<void>()
  await page.route('**/assistants/*', async (route) => {
    await goOn.promise
    await route.continue()
  })
  await page.reload()
  await page.getByRole('searchbox', { name: 'Search chats' }).pressSequentially('cra')
  goOn.resolve()
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  await page.keyboard.type('nes')
  expect(await page.getByRole('searchbox', { name: 'Search chats' }).inputValue()).toBe('cranes')
  await page.getByRole('link', { name: 'New chat' }).first().click()
  await page.getByRole('link', { name: 'Cranes' }).click()
  await page.getByRole('heading', { name: 'Cranes' }).waitFor()
  await page.keyboard.type('Hello')
  expect(await page.getByRole('textbox', { name: 'Message', exact: true }).inputValue()).toBe('Hello')
})

test('a failed answer shows the reason and can be retried', async () => {
  site.model.reply({ status: 400, errorMessage: 'no such model' })
  const { page } = await site.signedIn()
  await say(page, 'Try this')
  await page.getByText('The answer failed').first().waitFor()
  site.model.reply({ text: 'Now it works.' })
  await page.getByRole('button', { name: 'Try again' }).click()
  await answer(page, 'Now it works.').waitFor()
  expect(await page.locator('.bubble').count()).toBe(1)
  // What fails keeps its card, with the reason in words, also when more was said after it.
  site.model.reply({ status: 401, errorMessage: 'wrong key' })
  await say(page, 'Try that')
  const reason = page.getByText('The provider of the model refuses the key. Check the account of the model.')
  await reason.waitFor()
  site.model.reply({ text: 'This works.' })
  await say(page, 'And this')
  await answer(page, 'This works.').waitFor()
  await page.reload()
  await answer(page, 'This works.').waitFor()
  await reason.waitFor()
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1)
})

test('an edited message can start a new chat with the messages before it', async () => {
  site.model.reply({ text: 'Answer one.' })
  site.model.reply({ text: 'Answer two.' })
  const { page } = await site.signedIn()
  await say(page, 'First question')
  await answer(page, 'Answer one.').waitFor()
  await say(page, 'Second question')
  await answer(page, 'Answer two.').waitFor()
  site.model.reply({ text: 'Another answer.' })
  const turn = page.locator('.turn-human', { hasText: 'Second question' })
  await turn.hover()
  await turn.getByRole('button').click()
  await page.getByRole('dialog').getByLabel('Message').fill('Better question')
  await page.getByRole('button', { name: 'In a new chat' }).click()
  await answer(page, 'Another answer.').waitFor()
  expect(await page.locator('.bubble').allTextContents()).toEqual(['First question', 'Better question'])
  expect(await answer(page, 'Answer one.').count()).toBe(1)
  expect(await page.locator('.thread-item').count()).toBe(2)
})

test('on a phone the model and how hard it thinks are chosen in the settings of the chat; Ctrl+Enter sends a dialog', async () => {
  const { page } = await site.signedIn()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator('.composer .of-model').first().waitFor({ state: 'hidden' })
  // What is left is not cut.
  const chosen = page.getByRole('combobox', { name: 'Assistant' })
  expect(await chosen.evaluate((select) => select.scrollWidth <= select.clientWidth)).toBe(true)
  await page.getByRole('button', { name: 'Settings of this chat' }).click()
  await page.getByRole('dialog').getByLabel('Thinking').selectOption('high')
  await page.getByRole('dialog').getByLabel('Instructions for this chat').press('Control+Enter')
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  const reply = site.model.reply({ text: 'It is deep.' })
  await say(page, 'How deep is it?')
  expect((await reply.arrived).body['reasoning_effort']).toBe('high')
  await answer(page, 'It is deep.').waitFor()
})

test('a call that failed says so, by the name of its tool', async () => {
  const { page } = await site.signedIn({ 'type==agent/tools': [{ type: 'memory' }] })
  // One fails, the other is not made.
  const calls = ['save', 'keep'].map((operation) => ({ name: 'memory', arguments: { operation } }))
  site.model.reply({ toolCalls: calls })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  site.model.reply({ text: ['I could not ', released, 'keep it.'] })
  await say(page, 'Remember this')
  const failed = page.locator('.tool-call[data-state="failed"]', { hasText: 'Failed: Memory' })
  await expect.poll(() => failed.count()).toBe(2)
  release()
  await answer(page, 'I could not keep it.').waitFor()
  await page.reload()
  await expect.poll(() => failed.count()).toBe(2)
})

test('a call of a tool of the service waits with its name in the language of the reader', async () => {
  const config = { 'type==agent/tools': [{ type: 'http_request' }], 'type==agent/interrupt_before_action': true }
  const { page } = await site.signedIn(config)
  await page.evaluate(`localStorage.setItem('assistant-platform.language', 'de')`)
  await page.reload()
  const url = 'https://tides.example.com/kiel'
  site.model.reply({ toolCalls: [{ name: 'http_request', arguments: { method: 'GET', url } }] })
  site.model.reply({ text: 'Dann eben nicht.' })
  await page.getByRole('textbox', { name: 'Nachricht', exact: true }).fill('Wann ist Hochwasser?')
  await page.keyboard.press('Enter')
  await page.getByText('Möchte HTTP-Anfrage aufrufen').waitFor()
  const card = page.getByRole('region', { name: 'Der Assistent fragt, bevor er handelt' })
  await card.getByText('HTTP-Anfrage', { exact: true }).waitFor()
  await look(page, 'approval-de')
  await card.getByRole('button', { name: 'Ändern' }).click()
  await page.getByRole('dialog', { name: 'Argumente von HTTP-Anfrage ändern' }).waitFor()
  await page.keyboard.press('Escape')
  await card.getByRole('button', { name: 'Ablehnen' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Ablehnen' }).click()
  await answer(page, 'Dann eben nicht.').waitFor()
  await page.getByText('Abgelehnt: HTTP-Anfrage', { exact: true }).waitFor()
})

test('a tool waits for approval; it can be approved, changed and rejected', async () => {
  const target = await site.service.api.app.inject('/ok')
  expect(target.statusCode).toBe(200)
  const url = `${site.service.url}/ok`
  const call = () => ({ name: 'tide_tables', arguments: { method: 'GET', url } })
  const config = { 'type==agent/tools': [tool], 'type==agent/interrupt_before_action': true }
  const { page } = await site.signedIn(config)

  site.model.reply({
    toolCalls: [{ name: 'tide_tables', arguments: { method: 'GET', url: 'https://tides.example.com/kiel' } }],
  })
  site.model.reply({ text: 'I asked elsewhere.' })
  await say(page, 'When is high water in Kiel tomorrow?')
  await page.getByText('The assistant asks before it acts').waitFor()
  await page.getByText('Wants to call Tide tables').waitFor()
  await site.expectAccessible(page, 'a call that waits')
  await site.picture(page, 'approve-a-call')
  await page.reload()
  await page.getByRole('button', { name: 'Change' }).click()
  const panel = page.getByRole('dialog', { name: 'Change the arguments of Tide tables' })
  await panel.getByLabel('Method').selectOption('HEAD')
  await panel.getByLabel('URL').fill(url)
  await site.expectAccessible(page, 'a call that is changed')
  await panel.getByLabel('Write the arguments as JSON').check()
  await panel.getByLabel('Arguments as JSON', { exact: true }).fill('not json')
  await panel.getByRole('button', { name: 'Run with these arguments' }).click()
  await panel.getByText('This is not a JSON object.').waitFor()
  await panel
    .getByLabel('Arguments as JSON', { exact: true })
    .fill(JSON.stringify({ method: 'HEAD', url, headers: {} }))
  await panel.getByLabel('Write the arguments as JSON').uncheck()
  await page.keyboard.press('Escape')
  await page.getByText('Your changes of the arguments will be lost.').waitFor()
  await page.keyboard.press('Escape')
  await panel.getByRole('button', { name: 'Run with these arguments' }).click()
  await answer(page, 'I asked elsewhere.').waitFor()
  await expect.poll(() => page.locator('.tool-call').last().textContent()).toContain('HEAD')

  site.model.reply({ toolCalls: [call()] })
  site.model.reply({ text: 'The service is fine.' })
  await say(page, 'Is it up?')
  await page.getByRole('button', { name: 'Approve' }).click()
  await answer(page, 'The service is fine.').waitFor()
  await page.locator('.tool-call summary').last().click()
  await page.locator('.tool-body').last().getByText('Result').waitFor()

  site.model.reply({ toolCalls: [call()] })
  site.model.reply({ text: 'Then I leave it.' })
  await say(page, 'Once more')
  await page.getByRole('button', { name: 'Reject' }).click()
  await page.getByLabel('What should the assistant know?').fill('Not today')
  await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
  await answer(page, 'Then I leave it.').waitFor()
  expect(JSON.stringify(site.model.requests.at(-1)?.body.messages)).toContain('Not today')

  // Of two calls, a decision about one is held back, and can be undone, until the other is decided.
  site.model.reply({ toolCalls: [call(), { name: 'tide_tables', arguments: { method: 'HEAD', url } }] })
  site.model.reply({ text: 'One of two.' })
  await say(page, 'Both')
  await page.getByRole('button', { name: 'Approve all' }).waitFor()
  expect(await page.locator('.call-arguments').last().textContent()).toContain('MethodHEAD')
  const reject = async () => {
    await page.getByRole('button', { name: 'Reject' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
    await page.getByText('Rejected: Tide tables. Waiting for your decision on the other.').waitFor()
  }
  await reject()
  await site.expectAccessible(page, 'two calls that wait')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Approve all' }).waitFor()
  await reject()
  // What was decided is still there after another page.
  const chatUrl = new URL(page.url()).pathname
  await page.getByRole('link', { name: 'New chat' }).first().click()
  await page.getByRole('heading', { name: /^What can I do for you/ }).waitFor()
  await page.locator(`a[href="${chatUrl}"]`).click()
  await page.getByText('Rejected: Tide tables. Waiting for your decision on the other.').waitFor()
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await answer(page, 'One of two.').waitFor()
  await page.getByText('Rejected: Tide tables').last().waitFor()

  site.model.reply({ toolCalls: [call(), { name: 'tide_tables', arguments: { method: 'HEAD', url } }] })
  site.model.reply({ text: 'Both of two.' })
  await say(page, 'Both again')
  await page.getByRole('button', { name: 'Approve all' }).click()
  await answer(page, 'Both of two.').waitFor()
})

test('chats are found, renamed and deleted', async () => {
  const { page, user } = await site.signedIn()
  for (const name of ['Tides', 'Cranes', 'Pilots', 'Lights', 'Ropes', 'Buoys']) await user.post('/threads/', { name })
  await page.reload()
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('cran')
  await expect.poll(() => page.locator('.thread-item').count()).toBe(1)
  await page.getByRole('button', { name: 'Actions for Cranes' }).click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Cranes and winches')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('link', { name: 'Cranes and winches' }).waitFor()
  await page.getByRole('button', { name: 'Actions for Cranes and winches' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No chat with these words.').waitFor()
  expect((await user.get('/threads/')).total).toBe(5)

  // More than one page of chats: older ones come when the end of the list is seen, and with a search.
  const { threads } = site.service.collections
  const known = await threads.findOne({ user_id: user.userId, name: 'Tides' }).lean()
  if (known === null) throw new Error('the chat is missing')
  const older = Array.from({ length: 250 }, (_, place) => ({
    ...known,
    _id: newId(),
    name: `Log ${place} of the harbour`,
    updated_at: new Date(known.updated_at.getTime() - (place + 1) * 1000),
  }))
  await threads.insertMany(older)
  await page.reload()
  await expect.poll(() => page.locator('.thread-item').count(), { timeout: 30_000 }).toBe(200)
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('log 249')
  await page.getByRole('link', { name: 'Log 249 of the harbour' }).waitFor()
  expect(await page.locator('.thread-item').count()).toBe(1)
  await page.reload()
  await expect.poll(() => page.locator('.thread-item').count(), { timeout: 30_000 }).toBe(200)
  await page.locator('.thread-item').nth(199).scrollIntoViewIfNeeded()
  await expect.poll(() => page.locator('.thread-item').count(), { timeout: 30_000 }).toBe(255)
  await site.expectAccessible(page, 'many chats')
})
