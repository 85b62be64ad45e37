import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, inject, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'
import { startConsole } from './support.ts'

const docs = path.join(import.meta.dirname, '../../docs')
const workflows = `${inject('services').temporalUiUrl}/namespaces/default/workflows`

const site = useStarted(() => startConsole())

test('the Temporal UI shows user, assistant and outcome, by the columns and views of the documentation', async () => {
  const owner = await insertUser(site.service)
  const tool = { type: 'http_request', name: 'tide_tables' }
  const config = { 'type==agent/tools': [tool], 'type==agent/interrupt_before_action': true }
  const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'Harbour guide', config })
  const ask = async (content: string) => {
    const { thread_id: threadId } = await owner.post('/threads/', { assistant_id: assistantId })
    await owner.call('POST', '/runs/stream', {
      thread_id: threadId,
      input: [{ type: 'human', content }],
      config: { configurable: { assistant_id: assistantId } },
    })
    return String(threadId)
  }
  site.model.reply({ text: 'At noon.' })
  const answered = await ask('When is high water?')
  site.model.reply({
    toolCalls: [{ name: 'tide_tables', arguments: { method: 'GET', url: `${site.service.url}/ok` } }],
  })
  const waiting = await ask('Is it up?')
  site.model.reply({ status: 401 })
  const failed = await ask('And tomorrow?')

  const page = await site.context.newPage()
  const size = { width: 1760, height: 640 }
  await page.setViewportSize(size)
  page.setDefaultTimeout(60_000)
  await page.goto(workflows)
  const text = await readFile(path.join(docs, 'operations/observe.md'), 'utf8')
  const [, snippet] = /^```js\n(.*?)^```$/ms.exec(text) ?? []
  expect(snippet).toBeDefined()
  await page.evaluate(`{${snippet}}`)
  const query = `UserId="${owner.userId}" AND WorkflowType="threadWorkflow"`
  const list = `${workflows}?query=${encodeURIComponent(query)}`
  await page.goto(list)

  const row = (threadId: string) => page.locator('tr', { hasText: `thread/${threadId}` })
  const open = (threadId: string) =>
    row(threadId)
      .getByRole('link', { name: `thread/${threadId}` })
      .click()
  for (const [threadId, status] of [
    [answered, 'Completed'],
    [waiting, 'interrupted'],
    [failed, 'error'],
  ] as const)
    await expect
      .poll(() => row(threadId).textContent(), { timeout: 60_000 })
      .toMatch(new RegExp(`(?=.*${owner.userId})(?=.*${assistantId}).*${status}`, 's'))
  for (const view of ['Wait for a person', 'Runs failed', 'Deletions failed', 'Imports of files'])
    await page.getByText(view, { exact: true }).first().waitFor()
  await site.picture(page, 'temporal-list', { size })

  await page.getByText('Wait for a person', { exact: true }).first().click()
  await expect.poll(() => row(answered).count(), { timeout: 60_000 }).toBe(0)
  await open(waiting)
  await page.getByRole('tab', { name: 'User Metadata' }).click()
  // Details are Markdown, which the page shows in frames of their own, with another apostrophe.
  const shown = () => Promise.all(page.frames().map((frame) => frame.locator('body').innerText()))
  await expect
    .poll(async () => (await shown()).join('\n'), { timeout: 60_000 })
    .toMatch(/waits for a person.s decision about tide_tables/)
  await site.picture(page, 'temporal-thread', { size })

  await page.goto(list)
  await open(answered)
  await page
    .getByText(/"ended"/)
    .first()
    .waitFor()
})
