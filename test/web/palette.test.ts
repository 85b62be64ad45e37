import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Console, say, startConsole } from './support.ts'

let site: Console
beforeAll(async () => {
  site = await startConsole()
})
afterAll(() => site.close())

test('the keyboard alone finds chats, assistants, pages and actions, and shows its keys', async () => {
  const { page } = await site.signedIn()
  site.model.reply({ text: 'It is 4 m.' })
  await say(page, 'How deep is the harbour?')
  await page.locator('.markdown', { hasText: 'It is 4 m.' }).waitFor()
  const here = page.url()
  expect(await page.locator('.thread-period').allTextContents()).toEqual(['Today'])

  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Actions for How deep is the harbour?' }).click()
  await page.getByRole('menuitem', { name: 'Save as Markdown' }).click()
  const file = await saving
  expect(file.suggestedFilename()).toBe('How deep is the harbour.md')
  expect(await readFile(await file.path(), 'utf8')).toBe(
    '# How deep is the harbour?\n\n## You\n\nHow deep is the harbour?\n\n## Assistant\n\nIt is 4 m.\n\n',
  )

  const find = async (words: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Go to …' }).fill(words)
  }
  await find('usage')
  await site.expectAccessible(page, 'the palette')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  await find('how deep')
  await page.getByRole('option', { name: 'How deep is the harbour? Chat' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(here)
  await find('harbour guide')
  expect(await page.getByRole('option').count()).toBe(2)
  await page.keyboard.press('ArrowDown')
  expect(await page.getByRole('option', { selected: true }).textContent()).toBe('Harbour guideAssistant')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Harbour guide' }).first().waitFor()
  await find('dark')
  await page.keyboard.press('Enter')
  await page.locator('html[data-theme="dark"]').waitFor()
  await find('nothing is called so')
  await page.getByText('Nothing has this name.').waitFor()
  await page.keyboard.press('Escape')

  await page.keyboard.press('Control+Shift+o')
  await page.locator('.hello-title').waitFor()
  // In the field these are letters.
  await page.keyboard.type('?/')
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('?/')
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await site.expectAccessible(page, 'the shortcuts')
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA')
})
