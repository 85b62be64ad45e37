import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type ChatRequest, type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type Console, look, say, startConsole } from './support.ts'

let site: Console
let real: ScriptedModel
beforeAll(async () => {
  real = await startScriptedModel()
  const models = [{ id: 'steady' }, { id: 'quick' }]
  site = await startConsole({
    MODELS: JSON.stringify({ providers: [{ name: 'Own', base_url: real.url, models }] }),
    DEFAULT_MODEL: 'steady',
    MODEL_PRICES: JSON.stringify({ currency: 'usd', models: { '*': { input: 10, output: 20 } } }),
  })
})
afterAll(async () => {
  await site.close()
  await real.close()
})

const usage = { prompt_tokens: 1000, completion_tokens: 500 }
const of = (model: string) => (request: ChatRequest) => request.body.model === model

async function withSecondModel() {
  const signedIn = await site.signedIn()
  const { page } = signedIn
  await page.getByRole('button', { name: 'Settings of this chat' }).click()
  await page.getByLabel('Second model').selectOption('quick')
  await page.getByRole('button', { name: 'Save' }).click()
  return signedIn
}

const side = (page: Page, model: string) => page.getByRole('region', { name: `Answer of ${model}` })
const facts = (page: Page, model: string) => side(page, model).locator('.turn-facts')

test('two models answer at once, each with its cost and time; one is kept and the other becomes a version', async () => {
  const { page } = await withSecondModel()
  await page.setViewportSize({ width: 1440, height: 900 })
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  const paragraph = 'The harbour opens at six, and the cranes begin an hour later. '
  real.reply({ when: of('steady'), text: ['**At six.** ', paragraph, first.promise, 'Ask at the gate.'], usage })
  real.reply({ when: of('quick'), text: ['Six o’clock. ', second.promise, paragraph.repeat(4)], usage })
  await say(page, 'When does the harbour open?')
  // Both are being written at the same time.
  await side(page, 'quick').getByText('Six o’clock.').waitFor()
  await page.locator('.markdown').getByText('At six.').waitFor()
  await look(page, 'writing-1440-light')
  first.resolve()
  second.resolve()
  await side(page, 'quick').getByRole('button', { name: 'Keep this answer of quick' }).waitFor()
  for (const model of ['steady', 'quick']) {
    await expect.poll(() => facts(page, model).textContent()).toContain(`$0.02 · ${model} · `)
  }
  await page.getByText('This chat: $0.04').waitFor()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await site.expectAccessible(page, `two answers, ${colorScheme}`)
    await look(page, `both-1440-${colorScheme}`)
    await page.setViewportSize({ width: 390, height: 844 })
    await look(page, `both-390-${colorScheme}`)
    // The tools of the field stand in one row.
    expect((await page.locator('.composer-tools').boundingBox())?.height).toBeLessThan(64)
    await page.setViewportSize({ width: 1440, height: 900 })
  }
  // They are still beside each other after a reload.
  await page.reload()
  await side(page, 'quick').getByRole('button', { name: 'Keep this answer of quick' }).click()
  await page.getByText('2/2').waitFor()
  await side(page, 'quick').waitFor({ state: 'detached' })
  await expect.poll(() => page.locator('.turn-facts').textContent()).toContain('$0.02 · quick · ')
  await page.getByRole('button', { name: 'Previous version' }).click()
  await page.locator('.markdown').getByText('Ask at the gate.').waitFor()
  await page.getByRole('button', { name: 'Next version' }).click()

  await page.getByText('This chat: $0.04').waitFor()

  // The chat goes on with the answer that was kept.
  real.reply({ when: of('steady'), text: 'Every day.' })
  real.reply({ when: of('quick'), text: 'Not on Sundays.' })
  await say(page, 'Every day?')
  await side(page, 'quick').getByText('Not on Sundays.').waitFor()
  const asked = real.requests.findLast(({ body }) => body.model === 'steady')
  expect(JSON.stringify(asked?.body.messages)).toContain('Six o’clock')
  expect(JSON.stringify(asked?.body.messages)).not.toContain('Ask at the gate')

  // The first answer is kept: the other becomes a version with the next message, and the chat goes on from the first.
  await side(page, 'steady').getByRole('button', { name: 'Keep this answer of steady' }).click()
  await page.getByText('quick answered too.').waitFor()
  await page.getByRole('button', { name: 'Show both' }).click()
  await side(page, 'quick').waitFor()
  real.reply({ when: of('steady'), text: 'Good.' })
  real.reply({ when: of('quick'), text: 'Fine.' })
  await say(page, 'Thanks')
  await side(page, 'quick').getByText('Fine.').waitFor()
  await page.getByText('Every day.', { exact: true }).waitFor()
  await page.getByText('1/2').waitFor()
  const last = real.requests.findLast(({ body }) => body.model === 'quick')
  expect(JSON.stringify(last?.body.messages)).toContain('Every day.')
  expect(JSON.stringify(last?.body.messages)).not.toContain('Not on Sundays.')
})

test('one side that fails or is stopped leaves the other alone', async () => {
  const { page } = await withSecondModel()
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => gate.resolve())
  real.reply({ when: of('steady'), text: 'At noon.' })
  real.reply({ when: of('quick'), status: 400, errorMessage: 'No room for this.' })
  await say(page, 'When is lunch?')
  await side(page, 'quick').getByText('The answer failed').waitFor()
  await side(page, 'steady').getByText('At noon.').waitFor()
  expect(await side(page, 'quick').getByRole('button', { name: /Keep/ }).count()).toBe(0)
  await look(page, 'failed-side')

  real.reply({ when: of('steady'), text: 'At eight.' })
  real.reply({ when: of('quick'), text: ['Half past', gate.promise, ' never shown'] })
  await say(page, 'And dinner?')
  await side(page, 'quick').last().getByText('Half past').waitFor()
  await side(page, 'steady').last().getByText('At eight.').waitFor()
  await page.getByRole('button', { name: 'Stop quick' }).click()
  await side(page, 'quick').last().getByText('Stopped').waitFor()
  await page.getByRole('button', { name: 'Keep this answer of quick' }).waitFor()
})
