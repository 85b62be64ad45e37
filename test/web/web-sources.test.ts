import { afterAll, beforeAll, expect, test } from 'vitest'
import { page as webPage, startSite } from '../sources/support.ts'
import { type Console, startConsole } from './support.ts'

let site: Console
let web: Awaited<ReturnType<typeof startSite>>
beforeAll(async () => {
  site = await startConsole({ OUTBOUND_ALLOW: '127.0.0.1', CRAWL_PAUSE_MS: '0' })
  web = await startSite({
    '/': webPage('Harbour', 'The harbour is open from six to ten. '.repeat(10), ['/tides', '/missing']),
    '/tides': webPage('Tides', 'High water is at noon. '.repeat(12)),
  })
})
afterAll(async () => {
  await site.close()
  await web.close()
})

test('a site is added, its pages and what was left out are shown, it is found, read again and deleted', async () => {
  const { page, user, assistantId } = await site.signedIn()
  await page.goto(`${site.url}/console/assistants/${assistantId}`)
  await page.getByRole('tab', { name: 'Knowledge' }).click()
  await page.getByText('Nothing from the web yet.').waitFor()
  await page.getByRole('button', { name: 'Add from the web' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address', { exact: true }).fill('http://10.0.0.1/')
  await dialog.getByRole('button', { name: 'Add from the web' }).click()
  await dialog.locator('.field-error', { hasText: 'This address does not exist or is not allowed.' }).waitFor()
  // Said once, beside the field.
  expect(await dialog.getByText('not allowed').count()).toBe(1)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Add from the web' }).click()
  await dialog.getByLabel('Address', { exact: true }).fill(`${web.url}/`)
  await site.expectAccessible(page, 'the form of a source')
  await dialog.getByRole('button', { name: 'Add from the web' }).click()
  await page.getByText('Site · 2 pages · 1 left out').waitFor()
  await page.getByText('Ready', { exact: true }).waitFor()
  await site.expectAccessible(page, 'sources of the web')

  await page.getByRole('button', { name: `Show the pages: ${web.url}/` }).click()
  await dialog.getByText('There is no such page (404).').waitFor()
  await dialog.getByLabel('Show', { exact: true }).selectOption('ready')
  await dialog.getByRole('link', { name: 'Tides' }).waitFor()
  await expect.poll(() => dialog.getByText('There is no such page (404).').count()).toBe(0)
  await site.expectAccessible(page, 'pages of a source')
  await page.keyboard.press('Escape')

  await page.getByLabel('Enter a question').fill('when is high water')
  await page.keyboard.press('Enter')
  await page.getByText('High water is at noon.').first().waitFor()

  const asked = web.asked.length
  await page.getByRole('button', { name: `Read again now: ${web.url}/` }).click()
  await expect.poll(() => web.asked.length, { timeout: 30_000 }).toBeGreaterThan(asked)
  await page.getByText('Ready', { exact: true }).waitFor()
  await page.getByRole('button', { name: `Delete: ${web.url}/` }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Nothing from the web yet.').waitFor()
  expect((await user.get(`/assistants/${assistantId}/sources`)).sources).toEqual([])
})
