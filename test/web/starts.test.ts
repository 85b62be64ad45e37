import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { startConsole } from './support.ts'

const site = useStarted(() => startConsole())

test('every template makes an assistant whose starters begin a chat', async () => {
  const { page, user } = await site.signedIn()
  const open = async () => {
    await page.goto(`${site.url}/console/assistants`)
    await page.getByRole('button', { name: 'New assistant' }).click()
    await page.getByRole('radio', { name: 'A blank page' }).waitFor()
  }
  await open()
  await site.expectAccessible(page, 'templates')
  const names = await page.locator('.template strong').allTextContents()
  expect(names.length).toBe(9)
  for (const name of names.slice(1)) {
    await open()
    await page.getByRole('radio', { name }).check()
    if (name === 'Researcher') await page.getByText('Web search is not set up on this service').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'New assistant' }).click()
    await page.getByRole('heading', { name, exact: true }).waitFor()
  }
  const made = (await user.call('GET', '/assistants/')).body.slice(1)
  expect(made.map((assistant: { name: string }) => assistant.name).toSorted()).toEqual(names.slice(1).toSorted())
  for (const { config } of made) {
    expect(config['type==agent/starters'].length).toBe(4)
    expect(config['type==agent/system_message'].length).toBeGreaterThan(100)
    // No search is set up on this service.
    expect(config['type==agent/tools']).toBeUndefined()
  }

  // Where a search is set up, the researcher has it.
  await page.route('**/tools/', async (route) => {
    const catalogue = await (await route.fetch()).json()
    await route.fulfill({ json: catalogue.map((tool: object) => ({ ...tool, available: true })) })
  })
  await open()
  await page.getByRole('radio', { name: 'Researcher' }).check()
  await page.getByRole('dialog').getByLabel('Name').fill('Searcher')
  await page.getByRole('dialog').getByRole('button', { name: 'New assistant' }).click()
  await page.getByRole('heading', { name: 'Searcher', exact: true }).waitFor()
  const withSearch = (await user.call('GET', '/assistants/')).body.find(
    ({ name }: { name: string }) => name === 'Searcher',
  )
  expect(withSearch.config['type==agent/tools']).toEqual([{ type: 'web_search' }])

  const reply = site.model.reply({ text: 'Which text?' })
  const tutor = made.find((assistant: { name: string }) => assistant.name === 'Tutor')
  await page.goto(`${site.url}/console/chat?assistant=${tutor.assistant_id}`)
  await page.getByRole('button', { name: 'Ask me quiz questions.' }).waitFor()
  expect(await page.getByRole('button', { name: 'Say hello' }).count()).toBe(0)
  await site.expectAccessible(page, 'starters')
  await page.getByRole('button', { name: 'Ask me quiz questions.' }).click()
  expect((await reply.arrived).body.messages.map(({ role }) => role)).toEqual(['system', 'user'])
  await page.locator('.markdown', { hasText: 'Which text?' }).waitFor()
})

test('starters are written, changed and removed in the settings', async () => {
  const { page, user, assistantId } = await site.signedIn()
  const starters = async () => (await user.get(`/assistants/${assistantId}`)).config['type==agent/starters']
  await page.goto(`${site.url}/console/assistants/${assistantId}`)
  await page.getByLabel('Starter 1').fill('When is high water?')
  await page.getByLabel('Starter 3').fill('  What does a berth cost? ')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect(await starters()).toEqual(['When is high water?', 'What does a berth cost?'])
  await site.expectAccessible(page, 'starters in the settings')
  await page.reload()
  await page.getByLabel('Starter 1').fill('')
  await page.getByLabel('Starter 2').fill('')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect(await starters()).toBeUndefined()
  const tooMany = { 'type==agent/starters': ['1', '2', '3', '4', '5'] }
  expect((await user.call('POST', '/assistants/', { name: 'Many', config: tooMany })).status).toBe(422)
})

test('where nothing is yet, an example begins an assistant and its files', async () => {
  const { page, user, assistantId } = await site.signedIn()
  await page.goto(`${site.url}/console/assistants/${assistantId}?tab=knowledge`)
  await page.getByText('No files yet.').waitFor()
  await site.expectAccessible(page, 'no files')
  await page.getByRole('button', { name: 'Try it with a page about a harbour' }).click()
  await page.locator('.file-row', { hasText: 'harbour.md' }).getByText('Ready').waitFor()
  await page.getByText('Drop files here').waitFor()

  await user.call('DELETE', `/assistants/${assistantId}`)
  await page.goto(`${site.url}/console/assistants`)
  const title = page.getByRole('heading', { name: 'An assistant answers by your instructions' })
  await title.waitFor()
  await site.expectAccessible(page, 'no assistants')
  // In the optical middle: a little above that of the page.
  const part = await page.evaluate<number>(`(() => {
    const empty = document.querySelector('.empty')
    const [first, last] = [empty.firstElementChild, empty.lastElementChild].map((one) => one.getBoundingClientRect())
    return (first.top + last.bottom) / 2 / innerHeight
  })()`)
  expect(part).toBeGreaterThan(0.4)
  expect(part).toBeLessThan(0.55)
  await page.getByRole('button', { name: '“Answer from my documents, and name the page.”' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'New assistant' }).click()
  await page.getByRole('tab', { name: 'Knowledge' }).waitFor()
  expect((await user.get('/assistants/'))[0].config['type==agent/system_message'].length).toBeGreaterThan(100)
})
