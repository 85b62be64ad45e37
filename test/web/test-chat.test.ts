import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { say, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

const asked = () => JSON.stringify(site.model.requests.at(-1)?.body)

test('beside its settings an assistant is tested in a chat that no list shows and that goes when it is left', async () => {
  const { page, user, assistantId } = await site.signedIn()
  const { threads } = site.service.collections
  const tests = { user_id: user.userId, expires_at: { $exists: true } }
  await page.goto(`${site.url}/console/assistants/${assistantId}`)
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  const chat = page.getByRole('complementary', { name: 'Test chat' })
  await chat.getByText('Ask what your users will ask.').waitFor()
  const ask = async (text: string, answer: string) => {
    site.model.reply({ text: answer })
    await chat.getByRole('textbox', { name: 'Message', exact: true }).fill(text)
    await chat.getByRole('textbox', { name: 'Message', exact: true }).press('Enter')
    await chat.getByText(answer).waitFor()
  }
  await ask('When is high tide?', 'At four.')
  expect(await threads.countDocuments(tests)).toBe(1)
  expect((await user.get('/threads/')).total).toBe(0)

  await page.getByLabel('Instructions').fill('Speak like a pilot.')
  await chat.getByText('Your changes count here when you save them.').waitFor()
  await ask('And low tide?', 'At ten.')
  expect(asked()).not.toContain('Speak like a pilot.')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await chat.getByText('Your changes count here when you save them.').waitFor({ state: 'detached' })
  await ask('Say it again.', 'At ten, skipper.')
  expect(asked()).toContain('Speak like a pilot.')
  expect(asked()).toContain('When is high tide?')
  await site.picture(page, 'test-chat')
  for (const theme of ['light', 'dark']) {
    await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
    await site.expectAccessible(page, `the test chat (${theme})`)
  }
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await site.expectAccessible(page, 'the test chat on a phone')

  await chat.getByRole('button', { name: 'Begin a new test' }).click()
  await expect.poll(() => threads.countDocuments(tests), { timeout: 60_000 }).toBe(0)
  await ask('A new beginning?', 'Yes.')
  expect(asked()).not.toContain('When is high tide?')
  await chat.getByRole('button', { name: 'Close the test chat' }).click()
  await expect.poll(() => threads.countDocuments(tests), { timeout: 60_000 }).toBe(0)
})

test('files of one chat are searched in it alone, listed beside those of its assistant, and removed', async () => {
  const { page, user } = await site.signedIn()
  const { files, assistants, threads } = site.service.collections
  site.model.reply({ text: 'Hello.' })
  await say(page, 'Hello?')
  await page.locator('.markdown', { hasText: 'Hello.' }).waitFor()
  const open = page.getByRole('button', { name: 'Files of this chat' })
  const dialog = page.getByRole('dialog', { name: 'Files of this chat' })
  const add = async (name: string, text: string) => {
    const content = { name, mimeType: 'text/markdown', buffer: Buffer.from(text) }
    await dialog.locator('input[type="file"]').setInputFiles(content)
    await dialog.locator('.file-row', { hasText: name }).getByText('Ready').waitFor()
  }
  await open.click()
  await dialog.getByText('No files yet.').waitFor()
  await add('fees.md', '# Fees\n\nA berth costs 48 marks a night.\n')
  await add('tides.md', '# Tides\n\nHigh tide is at four.\n')
  await dialog.getByText('The assistant has no files.').waitFor()
  await site.expectAccessible(page, 'the files of a chat')
  await site.picture(page, 'chat-files')
  await page.keyboard.press('Escape')

  site.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'berth' } }] })
  site.model.reply({ text: 'A berth costs 48 marks (fees.md, Fees).' })
  await say(page, 'What does a berth cost?')
  await page.locator('.markdown .mark').click()
  await page.getByRole('complementary', { name: 'Source 1: fees.md' }).getByText('48 marks a night').waitFor()
  const chatUrl = page.url()

  await page.goto(`${site.url}/console/chat`)
  site.model.reply({ text: 'I do not know.' })
  await say(page, 'And in another chat?')
  await page.locator('.markdown', { hasText: 'I do not know.' }).waitFor()
  expect(asked()).not.toContain('retrieval')

  await page.goto(chatUrl)
  await page.setViewportSize({ width: 360, height: 740 })
  await open.click()
  await dialog.getByRole('button', { name: 'Remove from the chat: tides.md' }).click()
  await dialog.getByText('tides.md').waitFor({ state: 'detached' })
  await dialog.getByText('fees.md').waitFor()
  await site.expectAccessible(page, 'the files of a chat on a phone')
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 1280, height: 720 })

  await page.getByRole('button', { name: 'Actions for Hello?' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => threads.countDocuments({ user_id: user.userId, name: 'Hello?' }), { timeout: 60_000 }).toBe(0)
  const own = { user_id: user.userId }
  await expect.poll(() => files.countDocuments(own), { timeout: 60_000 }).toBe(0)
  await expect.poll(() => assistants.countDocuments({ ...own, kind: 'vector_store' }), { timeout: 60_000 }).toBe(0)
})

test('a temporary chat stands in no list and is deleted when it is left; a full list is announced', async () => {
  const { page, user } = await site.signedIn()
  const { threads, users } = site.service.collections
  const temporary = { user_id: user.userId, expires_at: { $exists: true } }
  await page.getByRole('button', { name: 'Temporary chat' }).click()
  await page.getByText('This chat stands in no list, and is deleted when you leave it.').waitFor()
  await site.expectAccessible(page, 'a temporary chat')
  site.model.reply({ text: 'In passing.' })
  await say(page, 'Hello')
  await page.locator('.markdown', { hasText: 'In passing.' }).waitFor()
  await page.getByText('Temporary', { exact: true }).waitFor()
  expect(await threads.countDocuments(temporary)).toBe(1)
  expect((await user.get('/threads/')).total).toBe(0)
  await page.getByRole('link', { name: 'New chat' }).first().click()
  await expect.poll(() => threads.countDocuments(temporary), { timeout: 60_000 }).toBe(0)
  await page.getByRole('button', { name: 'Temporary chat' }).click()
  site.model.reply({ text: 'Once more.' })
  await say(page, 'Hello again')
  await page.locator('.markdown', { hasText: 'Once more.' }).waitFor()
  expect(await threads.countDocuments(temporary)).toBe(1)
  const newChat = page.url().replace(/\/chat\/.*$/, '/chat')
  await page.goto('about:blank')
  await expect.poll(() => threads.countDocuments(temporary), { timeout: 60_000 }).toBe(0)
  await page.goto(newChat)
  await users.updateOne({ _id: user.userId }, { $set: { thread_counter: 9, thread_max: 10 } })
  await page.reload()
  await page.getByText('You have 9 of 10 chats, archived ones included.').waitFor()
  // The warning leads to the choice of chats, on a phone too, and as often as one likes.
  await user.post('/threads/', { name: 'Tides' })
  await page.reload()
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 })
    await page.getByRole('link', { name: 'Choose chats to delete' }).click()
    await page.getByRole('checkbox', { name: 'Tides' }).check()
    await expect.poll(() => new URL(page.url()).search).toBe('')
    await site.expectAccessible(page, `the choice of chats at ${width}`)
    await page.getByRole('button', { name: 'End the choice' }).click()
  }
  // So does the page of the usage.
  await page.goto(`${site.url}/console/usage`)
  await page.getByRole('link', { name: 'Choose chats to delete' }).click()
  await page.getByRole('checkbox', { name: 'Tides' }).waitFor()
})
