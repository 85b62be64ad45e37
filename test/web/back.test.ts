import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { type Console, look, startConsole } from './support.ts'

const site = useStarted(() => startConsole())
const phone = { width: 390, height: 844 }

/** A page of the usage, from which somebody came to the new chat, on a phone. */
async function onPhone(config?: object) {
  const person = await site.signedIn(config)
  await person.page.setViewportSize(phone)
  await person.page.goto(`${site.url}/console/usage`)
  await person.page.getByRole('heading', { name: 'Usage' }).waitFor()
  return person
}

type Page = Awaited<ReturnType<Console['signedIn']>>['page']
const stepsOf = (page: Page) => page.evaluate<number>('history.length')

test('on a phone, Back closes the menu, and then goes back', async () => {
  const { page } = await onPhone()
  const menu = page.getByRole('button', { name: 'Menu' })
  await menu.click()
  await page.getByRole('link', { name: 'Memory' }).click()
  await page.getByRole('heading', { name: 'Memory' }).waitFor()
  await menu.press('Enter')
  const links = page.getByRole('navigation')
  await links.waitFor()
  await look(page, 'menu-390-light')
  // Opened by a key, it has no ring around all of it.
  expect(await page.locator('#sidebar:focus').evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe(
    'none',
  )
  await page.goBack()
  await links.waitFor({ state: 'hidden' })
  expect(await page.getByRole('heading', { name: 'Memory' }).isVisible()).toBe(true)
  // The menu that was left by a link is no step.
  await page.goBack()
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  expect(await links.isVisible()).toBe(false)
  // Closed by its own means it is none, either; nor does a link to the same page make one.
  const before = await stepsOf(page)
  for (const close of ['Escape', 'link', 'scrim']) {
    await menu.click()
    await links.waitFor()
    if (close === 'Escape') await page.keyboard.press('Escape')
    else if (close === 'link') await page.getByRole('link', { name: 'Usage' }).click()
    else await page.locator('.scrim').click({ position: { x: 380, y: 500 } })
    await links.waitFor({ state: 'hidden' })
    // Who opened it by a key is where he was.
    await expect.poll(() => page.evaluate('document.activeElement?.ariaLabel')).toBe('Menu')
  }
  expect(await stepsOf(page)).toBeLessThanOrEqual(before + 1)
  await menu.click()
  await page.getByRole('link', { name: 'Memory' }).click()
  await page.getByRole('heading', { name: 'Memory' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
})

test('on a phone, Back closes a dialog, which asks first where something would be lost', async () => {
  const { page, user, assistantId } = await onPhone()
  const { thread_id: threadId } = await user.post('/threads/', { name: 'Tides', assistant_id: assistantId })
  await user.post(`/threads/${threadId}/state`, { values: [{ type: 'human', content: 'When is high water?' }] })
  await page.reload()
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Tides' }).click()
  await page.getByText('When is high water?').waitFor()
  await page.getByRole('button', { name: 'Edit the message' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit the message' })
  const asks = page.getByRole('dialog', { name: 'Close without saving?' })
  await dialog.getByRole('textbox').fill('When is low water?')
  await page.goBack()
  await asks.waitFor()
  await look(page, 'back-asks-390')
  // Back is no answer but Cancel.
  await page.goBack()
  await asks.waitFor({ state: 'detached' })
  expect(await dialog.getByRole('textbox').inputValue()).toBe('When is low water?')
  await page.goBack()
  await asks.getByRole('button', { name: 'Discard' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('When is high water?').waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
})

test('on a phone, a dialog that leads to another page, or a reload, leaves no step behind', async () => {
  const { page } = await onPhone()
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Assistants' }).click()
  await page.getByRole('button', { name: 'New assistant' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New assistant' })
  await dialog.waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Assistants' }).waitFor()
  await expect.poll(() => page.evaluate('history.state.over ?? []')).toEqual([])
  await page.getByRole('button', { name: 'New assistant' }).first().click()
  await dialog.getByLabel('Name').fill('Pilot')
  await dialog.getByRole('button', { name: 'New assistant' }).click()
  await page.getByRole('heading', { name: 'Pilot' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Assistants' }).waitFor()
  expect(await dialog.count()).toBe(0)
  await page.goBack()
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
})

test('on a phone, Back closes the panel of a tool; on a wide screen it leaves the page', async () => {
  const { page, assistantId } = await onPhone({ 'type==agent/tools': [{ type: 'http_request', name: 'harbour' }] })
  await page.goto(`${site.url}/console/assistants/${assistantId}?tab=tools`)
  const open = () => page.getByRole('button', { name: /^harbour/ }).click()
  await open()
  const panel = page.getByRole('dialog', { name: 'harbour' })
  await panel.waitFor()
  await page.goBack()
  await panel.waitFor({ state: 'detached' })
  await open()
  await panel.getByRole('textbox', { name: 'Name' }).fill('harbour_2')
  await page.goBack()
  const asks = page.getByRole('dialog', { name: 'Close without saving?' })
  await asks.getByRole('button', { name: 'Discard' }).click()
  await panel.waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Tools' }).waitFor()
  await page.setViewportSize({ width: 1440, height: 900 })
  await open()
  await panel.waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
})
