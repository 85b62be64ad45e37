import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Console, say, startConsole } from './support.ts'

let site: Console
beforeAll(async () => {
  site = await startConsole()
})
afterAll(() => site.close())

const says = (whose: string) => ({ 'type==agent/system_message': `I am the ${whose}.` })
const asks = (name: string) => ({
  toolCalls: [{ name: 'assistant', arguments: { assistant: name, question: `What does ${name} know of fees?` } }],
})

test('who may be asked is chosen, and a question unfolds to the calls and the answer of the other', async () => {
  const { page, user, assistantId } = await site.signedIn()
  const create = async (name: string, config: object) =>
    String((await user.post('/assistants/', { name, config })).assistant_id)
  await create('Clerk', says('clerk'))
  const guide = `/assistants/${assistantId}`
  await page.goto(`${site.url}/console${guide}`)
  await page.getByRole('tab', { name: 'Tools' }).click()
  await page.getByRole('button', { name: 'Other assistants' }).click()
  await page.getByRole('checkbox', { name: 'Clerk' }).check()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved').waitFor()
  const [tool] = (await user.get(guide)).config['type==agent/tools']
  const [clerk] = tool.config.assistant_ids
  expect(tool).toEqual({ type: 'assistant', config: { assistant_ids: [expect.any(String)] } })

  // Each by a script of its own, and the clerk asks a third.
  const cashier = await create('Cashier', says('cashier'))
  const config = (whose: string, id: string) => ({
    ...says(whose),
    'type==agent/tools': [{ type: 'assistant', config: { assistant_ids: [id] } }],
  })
  await user.put(`/assistants/${clerk}`, { name: 'Clerk', config: config('clerk', cashier) })
  await user.put(guide, { name: 'Harbour guide', config: config('guide', clerk) })
  const reply = (whose: string, given: object) =>
    site.model.reply({
      ...given,
      when: ({ body }) => body.messages.some(({ content }) => content === `I am the ${whose}.`),
    })
  const isSeen = Promise.withResolvers<void>()
  reply('guide', asks('Clerk'))
  reply('clerk', asks('Cashier'))
  reply('cashier', { text: 'A berth is **48 marks**.' })
  reply('clerk', { text: 'The cashier says 48 marks.', after: isSeen.promise })
  reply('guide', { text: 'It costs 48 marks.' })
  await page.goto(`${site.url}/console/chat`)
  await say(page, 'What does a berth cost?')
  // While the other still works, its own question is seen.
  await page.getByText('Asks Clerk').click()
  await page.getByText('What does Clerk know of fees?').waitFor()
  await page.getByText('Asked Cashier').waitFor()
  isSeen.resolve()
  await page.getByText('It costs 48 marks.').waitFor()
  await page.getByText('Asked Clerk').waitFor()
  await page.getByText('Answer of Clerk').waitFor()
  await page.getByText('The cashier says 48 marks.').waitFor()
  await page.getByText('Asked Cashier').click()
  await page.getByText('What does Cashier know of fees?').waitFor()
  await page.locator('.tool-body .tool-body strong', { hasText: '48 marks' }).waitFor()
  await site.expectAccessible(page, 'a question to another assistant')
})
