import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { startConsole } from './support.ts'

const site = useStarted(() => startConsole())

test('a fact is kept, found by whom it is for, changed and deleted', async () => {
  const { page, user } = await site.signedIn()
  const { assistant_id: assistantId } = await user.post('/assistants/', { name: 'Cook' })
  await page.reload()
  await page.getByRole('link', { name: 'Memory' }).click()
  await page.getByText('There are no facts yet.').waitFor()
  await site.expectAccessible(page, 'memory without facts')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: '“I write in British English.”' }).click()
  expect(await dialog.getByLabel('Fact').inputValue()).toBe('The user writes in British English.')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'New fact' }).click()
  await dialog.getByLabel('Fact').fill('I do not eat nuts.')
  await dialog.getByLabel('For').selectOption('Assistant: Cook')
  await site.expectAccessible(page, 'a new fact')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('I do not eat nuts.').waitFor()
  const [fact] = await user.get('/memory/')
  expect(fact).toMatchObject({ text: 'I do not eat nuts.', assistant_id: assistantId, made_by: 'user' })

  await page.getByLabel('Show', { exact: true }).selectOption('Project: main')
  await page.getByText('There are no facts here.').waitFor()
  await page.getByLabel('Show', { exact: true }).selectOption('Assistant: Cook')
  await page.getByText('saved by you').waitFor()
  await site.expectAccessible(page, 'memory')

  await page.getByRole('button', { name: 'Edit: I do not eat nuts.' }).click()
  await dialog.getByLabel('Fact').fill('I do not eat peanuts.')
  await dialog.getByLabel('For').selectOption('All my assistants')
  await dialog.getByRole('button', { name: 'Save' }).click()
  // The dialog's field has the words before they are stored.
  await dialog.waitFor({ state: 'detached' })
  await page.getByLabel('Show', { exact: true }).selectOption('All facts')
  await page.getByText('I do not eat peanuts.').waitFor()
  expect(await user.get('/memory/')).toMatchObject([{ memory_id: fact.memory_id, assistant_id: null }])
  await page.getByRole('button', { name: 'Delete: I do not eat peanuts.' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('There are no facts yet.').waitFor()
  expect(await user.get('/memory/')).toEqual([])
})
