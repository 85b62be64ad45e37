import { expect, test } from 'vitest'
import type { ChatRequest } from '../support/scripted-model.ts'
import { useStarted } from '../support/use-started.ts'
import { look, say, startConsole } from './support.ts'

const site = useStarted(() => startConsole({ SMALL_MODEL: 'small' }))

const isSmall = ({ body }: ChatRequest) => body.model === 'small'

test('the small model names a chat, and its questions are sent with a click', async () => {
  const { page } = await site.signedIn()
  let open = () => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  site.model.reply({ when: (request) => !isSmall(request), text: 'High water is at 14:20.' })
  site.model.reply({
    when: isSmall,
    text: [
      gate,
      'Tides in the harbour\nWhen is low water?\nHow high does the water rise?\nMay I leave the harbour at night without a pilot, and whom do I have to call before?',
    ],
  })
  await say(page, 'when is the water highest today please')
  await page.locator('.markdown', { hasText: 'High water is at 14:20.' }).waitFor()
  await page.getByRole('link', { name: 'when is the water highest today please' }).waitFor()
  const list = page.getByRole('list', { name: 'Suggested questions' })
  expect(await list.count()).toBe(0)
  open()
  await page.getByRole('link', { name: 'Tides in the harbour' }).waitFor()
  await page.getByRole('heading', { name: 'Tides in the harbour' }).waitFor()
  expect(await list.getByRole('button').count()).toBe(3)
  await page.setViewportSize({ width: 1440, height: 900 })
  await look(page, 'follow-ups-1440')
  await site.expectAccessible(page, 'follow-ups')
  await page.evaluate(`localStorage.setItem('assistant-platform.theme', 'dark')`)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  await list.waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  await look(page, 'follow-ups-390-dark')
  await page.evaluate(`localStorage.setItem('assistant-platform.language', 'de')`)
  await page.reload()
  await page.getByRole('list', { name: 'Vorgeschlagene Fragen' }).waitFor()
  await look(page, 'follow-ups-390-de')

  const second = site.model.reply({ when: (request) => !isSmall(request), text: 'At 20:30.' })
  site.model.reply({ when: isSmall, text: 'And tomorrow?' })
  await page.getByRole('button', { name: 'When is low water?' }).click()
  const asked = (await second.arrived).body.messages.at(-1)
  expect(asked).toMatchObject({ role: 'user', content: 'When is low water?' })
  await page.locator('.markdown', { hasText: 'At 20:30.' }).waitFor()
  await page.getByRole('button', { name: 'And tomorrow?' }).waitFor()
  expect(await page.getByRole('button', { name: 'When is low water?' }).count()).toBe(0)
})

test('an answer that the model cut off goes on with a click', async () => {
  const { page } = await site.signedIn()
  for (const text of ['Tides', 'Tides and floods']) site.model.reply({ when: isSmall, text })
  site.model.reply({ when: (request) => !isSmall(request), text: 'First the ebb,', finishReason: 'length' })
  await say(page, 'tell me of the tides')
  await page.getByText('The model stopped because its answer got too long.').waitFor()
  const next = site.model.reply({ when: (request) => !isSmall(request), text: 'then the flood.' })
  const button = page.getByRole('button', { name: 'Continue where you stopped.' })
  await button.waitFor()
  await look(page, 'cut-answer')
  await button.click()
  expect((await next.arrived).body.messages.at(-1)).toMatchObject({ content: 'Continue where you stopped.' })
  await page.locator('.markdown', { hasText: 'then the flood.' }).waitFor()
  expect(await button.count()).toBe(0)
})
