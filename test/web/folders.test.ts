import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { goodPassword, signUpUser } from '../support/users.ts'
import { look, say, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

/** What the page does after a while, it does not do then. */
const withoutLater = `{
  const soon = setTimeout
  window.setTimeout = (action, ms, ...given) => (ms >= 10_000 ? 0 : soon(action, ms, ...given))
}`

test('chats are dragged into a folder and out of it, and its instructions and files hold in them', async () => {
  const { page, user, assistantId } = await site.signedIn()
  await page.setViewportSize({ width: 1440, height: 900 })
  const { thread_id: threadId } = await user.post('/threads/', { name: 'High water', assistant_id: assistantId })
  await user.post('/threads/', { name: 'Weather', assistant_id: assistantId })
  await page.reload()
  await page.getByRole('button', { name: 'New folder' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Harbour')
  await site.expectAccessible(page, 'a new folder')
  await dialog.getByRole('button', { name: 'New folder' }).click()
  const folder = page.getByRole('button', { name: 'Harbour', exact: true })
  await folder.waitFor()
  expect(await folder.getAttribute('aria-expanded')).toBe('false')
  await folder.click()
  const inside = page.getByRole('list', { name: 'Chats of the folder: Harbour' })
  await page.getByText('No chats yet.').waitFor()

  await page.getByRole('link', { name: 'High water' }).dragTo(folder)
  await page.getByText('The chat is in “Harbour” now.').waitFor()
  await inside.getByRole('link', { name: 'High water' }).waitFor()
  // It stands in one place.
  expect(await page.getByRole('link', { name: 'High water' }).count()).toBe(1)
  expect((await user.get(`/threads/${threadId}`)).folder_id).not.toBeNull()
  await site.expectAccessible(page, 'folders')
  await look(page, 'folders-1440')

  await page.getByRole('button', { name: 'Actions for Harbour' }).click()
  await page.getByRole('menuitem', { name: 'Name, instructions, files' }).click()
  await dialog.getByLabel('Instructions').fill('Times are local.')
  const choosing = page.waitForEvent('filechooser')
  await dialog.getByRole('button', { name: 'Add files' }).click()
  await (
    await choosing
  ).setFiles({
    name: 'hours.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('The harbour office opens at six.'),
  })
  await dialog.getByText('hours.txt').waitFor()
  await dialog.getByText('Ready').waitFor()
  await site.expectAccessible(page, 'what holds in a folder')
  await look(page, 'folder-dialog-1440')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })

  // A chat that begins in it.
  await page.getByRole('button', { name: 'Actions for Harbour' }).click()
  await page.getByRole('menuitem', { name: 'New chat here' }).click()
  await page.getByText('In the folder “Harbour”: its instructions and files hold here.').waitFor()
  await look(page, 'folder-new-chat-1440')
  const asked = site.model.reply({
    toolCalls: [{ name: 'retrieval', arguments: { query: 'When does the harbour office open?' } }],
  })
  site.model.reply({ text: 'At six.' })
  await say(page, 'When does it open?')
  const { messages } = (await asked.arrived).body
  expect(messages[0]?.content).toContain('Times are local.')
  await page.locator('.markdown', { hasText: 'At six.' }).waitFor()
  await inside.getByRole('link', { name: 'When does it open?' }).waitFor()
  await page.getByText('hours.txt').first().waitFor({ state: 'attached' })

  // The chat that is open is seen in its folder.
  await folder.click()
  await inside.waitFor({ state: 'detached' })
  await page.reload()
  await inside.getByRole('link', { name: 'When does it open?' }).waitFor()

  // A search finds chats in folders, too, also where all of them are.
  await page.getByRole('link', { name: 'Weather' }).dragTo(folder)
  await inside.getByRole('link', { name: 'Weather' }).waitFor()
  expect(await page.getByText('No chats yet.').count()).toBe(0)
  await page.getByRole('searchbox', { name: 'Search chats' }).click()
  await page.keyboard.type('high')
  await page.getByRole('link', { name: 'High water' }).waitFor()
  await folder.waitFor({ state: 'detached' })
  expect(await page.getByRole('searchbox', { name: 'Search chats' }).inputValue()).toBe('high')
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('')
  await folder.waitFor()

  // One that is pinned stands at the top, and only there.
  await page.getByRole('button', { name: 'Actions for Weather' }).click()
  await page.getByRole('menuitem', { name: 'Pin', exact: true }).click()
  await inside.getByRole('link', { name: 'Weather' }).waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Pinned' }).waitFor()
  expect(await page.getByRole('link', { name: 'Weather' }).count()).toBe(1)

  await dragOut()
  await page.getByText('The chat is in the list again.').waitFor()
  await expect.poll(async () => (await user.get(`/threads/${threadId}`)).folder_id).toBeNull()
  await inside.getByRole('link', { name: 'High water' }).waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Actions for Harbour' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await dialog.getByText('Its chats go back to the list.').waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await folder.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'When does it open?' }).waitFor()
  expect((await user.get('/v1/files')).data).toEqual([])

  /** Where chats are dropped to leave their folder is only there while one is dragged. */
  async function dragOut(): Promise<void> {
    await inside.getByRole('link', { name: 'High water' }).hover()
    await page.mouse.down()
    await page.mouse.move(200, 500, { steps: 5 })
    const target = page.getByText('Drop here to take it out of the folder')
    await target.waitFor()
    await look(page, 'folder-drag-1440')
    const box = await target.boundingBox()
    await page.mouse.move((box?.x ?? 0) + 20, (box?.y ?? 0) + 10, { steps: 5 })
    await page.mouse.up()
  }
})

async function logIn(page: Page, email: string): Promise<void> {
  await page.goto(`${site.url}/login`)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByRole('button', { name: 'Log in' }).click()
}

test('in a new browser folders stand in the list with the first chats', async () => {
  const user = await signUpUser(site.service)
  await user.post('/folders/', { name: 'Harbour' })
  const page = await site.newPage()
  await page.addInitScript(withoutLater)
  await logIn(page, user.email)
  await page.getByRole('button', { name: 'Harbour', exact: true }).waitFor()
})

test('a login does not wait for the folders, which come when they are known', async () => {
  const user = await signUpUser(site.service)
  await user.post('/folders/', { name: 'Harbour' })
  const page = await site.newPage()
  const known = Promise.withResolvers<void>()
  const failed: string[] = []
  page.on('requestfailed', (request) => failed.push(new URL(request.url()).pathname))
  await page.route('**/folders/', async (route) => known.promise.then(() => route.continue()))
  await page.addInitScript(withoutLater)
  await logIn(page, user.email)
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  expect(failed).toEqual([])
  known.resolve()
  await page.getByRole('button', { name: 'Harbour', exact: true }).waitFor()
})

test('folders and chats of another device are there when somebody comes back to the page', async () => {
  const { page, user, assistantId } = await site.signedIn()
  await page.addInitScript(withoutLater)
  await page.reload()
  await page.getByText('No chats yet').waitFor()
  const comeBack = () => page.evaluate(`for (const sign of ['blur', 'focus']) window.dispatchEvent(new Event(sign))`)
  await user.post('/folders/', { name: 'Harbour' })
  await user.post('/threads/', { name: 'Tides', assistant_id: assistantId })
  await comeBack()
  await page.getByRole('button', { name: 'Harbour', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Tides' }).waitFor()
  // What was loaded a moment ago is asked for again.
  await user.post('/folders/', { name: 'Winter' })
  await comeBack()
  await page.getByRole('button', { name: 'Winter', exact: true }).waitFor()
  // Another tab of the browser says so itself.
  const other = await site.signedIn()
  await other.page.addInitScript(withoutLater)
  await other.page.reload()
  await other.page.getByText('No chats yet').waitFor()
  const third = await other.page.context().newPage()
  await third.goto(`${site.url}/console/chat`)
  await third.getByRole('button', { name: 'New folder' }).click()
  await third.getByRole('dialog').getByLabel('Name').fill('Spring')
  await third.keyboard.press('Enter')
  await third.getByRole('button', { name: 'Spring', exact: true }).waitFor()
  await other.page.getByRole('button', { name: 'Spring', exact: true }).waitFor()
  await third.close()
})

test('on a phone and by keyboard chats are moved by their menu, in German and dark', async () => {
  const { page, user, assistantId } = await site.signedIn()
  const { folder_id: folderId } = await user.post('/folders/', {
    name: 'Alles über den Hafen und was sonst noch so dazugehört',
  })
  const { thread_id: threadId } = await user.post('/threads/', { name: 'Hochwasser', assistant_id: assistantId })
  await page.evaluate(() => {
    localStorage.setItem('assistant-platform.language', 'de')
    localStorage.setItem('assistant-platform.theme', 'dark')
  })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  await page.getByRole('button', { name: 'Menü' }).click()
  await page.getByRole('button', { name: /^Alles über den Hafen/ }).waitFor()
  await page.getByRole('button', { name: 'Aktionen für Hochwasser' }).click()
  await page.getByRole('menuitem', { name: 'In einen Ordner legen' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('radio', { name: 'Kein Ordner' }).focus()
  await page.keyboard.press('ArrowDown')
  await site.expectAccessible(page, 'moving a chat on a phone')
  await look(page, 'folder-move-390-dark')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(async () => (await user.get(`/threads/${threadId}`)).folder_id).toBe(folderId)
  await page.getByRole('button', { name: /^Alles über den Hafen/ }).click()
  await page.getByRole('link', { name: 'Hochwasser' }).waitFor()
  await site.expectAccessible(page, 'folders on a phone')
  await look(page, 'folders-390-dark')
  const width = await page.evaluate('document.documentElement.scrollWidth')
  expect(width).toBeLessThanOrEqual(390)
  // Into a new one at once.
  await page.getByRole('button', { name: 'Aktionen für Hochwasser' }).click()
  await page.getByRole('menuitem', { name: 'In einen Ordner legen' }).click()
  await dialog.getByLabel('Oder ein neuer Ordner').fill('Wetter')
  await dialog.getByRole('button', { name: 'Speichern' }).click()
  await page.getByText('„Hochwasser“ liegt jetzt in „Wetter“.').waitFor()
  expect((await user.get('/folders/')).map(({ name }: { name: string }) => name)).toContain('Wetter')
  await page.getByRole('button', { name: 'Aktionen für Wetter' }).click()
  await page.getByRole('menuitem', { name: 'Name, Anweisungen, Dateien' }).click()
  await dialog.getByLabel('Anweisungen').waitFor()
  await site.expectAccessible(page, 'what holds in a folder on a phone')
  await look(page, 'folder-dialog-390-dark')
})
