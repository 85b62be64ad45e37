import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startMcpServer } from '../support/mcp-server.ts'
import { useStarted } from '../support/use-started.ts'
import { say, startConsole } from './support.ts'

const site = useStarted(() => startConsole({ OUTBOUND_ALLOW: '127.0.0.1' }))

const toolsOf = async ({ user, assistantId }: { user: { get: (path: string) => Promise<any> }; assistantId: string }) =>
  (await user.get(`/assistants/${assistantId}`)).config['type==agent/tools']

const openTab = (page: Page, assistantId: string) =>
  page.goto(`${site.url}/console/assistants/${assistantId}?tab=tools`)
const card = (page: Page, name: string) => page.locator('.tool-card', { hasText: name })
const save = async (panel: Locator) => {
  await panel.getByRole('button', { name: 'Save', exact: true }).click()
  await panel.waitFor({ state: 'detached' })
}
/** What the element with the focus is called. */
const focused = (page: Page) =>
  page.evaluate<string>(
    `(({ labels, ariaLabel, textContent }) => ariaLabel ?? labels?.[0]?.textContent ?? textContent)(document.activeElement)`,
  )

test('a tool that may call any host asks before it is saved or tested, and then before each call', async () => {
  const visitor = await site.signedIn()
  const { page } = visitor
  await openTab(page, visitor.assistantId)
  await card(page, 'HTTP requests').click()
  const panel = page.getByRole('dialog', { name: /HTTP requests/ })
  const question = page.getByRole('dialog', { name: 'Allow every host?' })
  await panel.getByRole('button', { name: 'Save', exact: true }).click()
  await question.waitFor()
  await site.expectAccessible(page, 'a tool without hosts')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await panel.locator('footer').getByText('Name the hosts that this tool may call.').waitFor()
  await panel.getByRole('button', { name: 'Save and test' }).click()
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(await toolsOf(visitor)).toBeUndefined()
  await panel.getByRole('button', { name: 'Save', exact: true }).click()
  await question.getByRole('button', { name: 'Allow every host' }).click()
  await panel.waitFor({ state: 'detached' })
  expect(await toolsOf(visitor)).toEqual([{ type: 'http_request', ask: true }])
})

test('tools of each kind are added from cards, edited in a panel, and never show their keys', async () => {
  const visitor = await site.signedIn()
  const { page } = visitor
  await page.getByRole('link', { name: 'Assistants' }).click()
  await page.getByRole('link', { name: 'Harbour guide' }).click()
  await page.getByRole('tab', { name: 'Tools' }).click()
  await card(page, 'Web search').getByText('the operator of this service names no search service').waitFor()
  await card(page, 'Web search').click({ force: true })
  expect(await page.getByRole('dialog').count()).toBe(0)

  await card(page, 'HTTP requests').click()
  const panel = page.getByRole('dialog')
  expect(await focused(page)).toBe('Name for the model (optional)')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  expect(await focused(page)).toContain('HTTP requests')
  await page.keyboard.press('Enter')
  await panel.getByLabel('Name for the model').fill('tide_tables')
  await panel.getByLabel('Hosts').fill('https://tides.example.com')
  await page.keyboard.press('Enter')
  await panel.getByText('“https://tides.example.com” is not allowed here.').waitFor()
  await panel.getByLabel('Hosts').fill('tides.example.com, *.example.org')
  await page.keyboard.press('Enter')
  await panel.getByRole('button', { name: 'Remove *.example.org' }).click()
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
    await panel.getByRole('switch', { name: method }).uncheck()
  await panel.getByRole('button', { name: 'Add', exact: true }).click()
  await page.keyboard.type('x-key')
  await panel.getByLabel('Headers (optional): value 1').fill('a secret of the test')
  await site.expectAccessible(page, 'a new tool')
  await save(panel)
  await page.getByText('tides.example.com · GET').waitFor()
  const http = {
    type: 'http_request',
    name: 'tide_tables',
    config: { allowed_hosts: ['tides.example.com'], methods: ['GET'], headers: { 'x-key': 'a secret of the test' } },
  }
  expect(await toolsOf(visitor)).toEqual([http])

  // What is stored stays hidden, and is kept when something else changes.
  await page.getByRole('button', { name: /^tide_tables/ }).click()
  await panel.getByRole('button', { name: 'Replace the value of x-key' }).waitFor()
  const fields = await page.evaluate<string>(
    `[...document.querySelectorAll('input, textarea')].map(({ value }) => value).join()`,
  )
  expect(`${await page.content()} ${fields}`).not.toContain('a secret of the test')
  await panel.getByRole('switch', { name: 'HEAD' }).check()
  await page.keyboard.press('Escape')
  await page.getByText('Your changes of “tide_tables” are not saved').waitFor()
  await site.expectAccessible(page, 'unsaved changes of a tool')
  await page.keyboard.press('Escape')
  await page.goBack()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).last().click()
  await save(panel)
  expect(await focused(page)).toContain('tide_tables')
  await page.getByText('tides.example.com · GET, HEAD').waitFor()
  expect((await toolsOf(visitor))[0].config).toEqual({ ...http.config, methods: ['GET', 'HEAD'] })
  await page.getByRole('button', { name: /^tide_tables/ }).click()
  await panel.getByRole('button', { name: 'Replace the value of x-key' }).click()
  await page.keyboard.type('another')
  await save(panel)
  expect((await toolsOf(visitor))[0].config.headers).toEqual({ 'x-key': 'another' })

  await card(page, 'Schedules').click()
  await panel.getByText('This tool has no settings.').waitFor()
  await save(panel)
  await card(page, 'Schedules').getByText('This assistant has it already.').waitFor()
  await card(page, 'Memory').click()
  await panel.getByLabel('Shared by (optional)').selectOption('All assistants of the project with this tool')
  await save(panel)
  await page.getByText('Facts of the project').waitFor()
  await card(page, 'File search').click()
  await panel.getByLabel('Most passages').fill('7')
  await panel.getByLabel('Lowest score').fill('0.25')
  await save(panel)
  await page.getByText('At most 7 passages').waitFor()
  await card(page, 'Function of your program').click()
  const long = 'w'.repeat(64)
  await panel.getByLabel('Name').fill(long)
  await panel.getByLabel('Description').fill('Says how deep the water is. '.repeat(20))
  await save(panel)
  await page.getByRole('switch', { name: 'Ask first: tide_tables' }).check()
  await expect.poll(async () => (await toolsOf(visitor)).map(({ ask }: { ask?: boolean }) => ask)).toContain(true)
  expect(await toolsOf(visitor)).toMatchObject([
    { type: 'http_request', ask: true },
    { type: 'schedule' },
    { type: 'memory', config: { scope: 'project' } },
    { type: 'retrieval', config: { max_num_results: 7, ranking_options: { score_threshold: 0.25 } } },
    { type: 'client', config: { name: long } },
  ])
  await page.getByRole('button', { name: 'Actions for Schedules' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('“Schedules” is removed.').waitFor()
  expect((await toolsOf(visitor)).length).toBe(4)

  for (const theme of ['light', 'dark']) {
    await page.evaluate((name) => localStorage.setItem('assistant-platform.theme', name), theme)
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.reload()
    await page.getByRole('button', { name: /^tide_tables/ }).waitFor()
    await site.expectAccessible(page, `tools (${theme})`)
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    expect(await page.evaluate(`document.querySelector('.main').scrollWidth`)).toBeLessThanOrEqual(360)
    await page.locator('.tool-open', { hasText: long }).click()
    await panel.waitFor()
    await site.expectAccessible(page, `a tool on a phone (${theme})`)
    const box = await panel.boundingBox()
    expect(box?.width).toBe(360)
    expect(box?.y).toBeGreaterThan(50)
    await page.keyboard.press('Escape')
  }
})

test('a test below the settings shows the tools of the model and calls them', async () => {
  const calls: object[] = []
  const mcp = await startMcpServer({
    register: (server) =>
      void server.registerTool(
        'tides',
        {
          description: 'Tells when the water is high',
          inputSchema: {
            harbour: z.string(),
            basin: z.enum(['east', 'west']),
            depths: z.array(z.number()).optional(),
          },
        },
        (args) => {
          calls.push(args)
          if (args.harbour === 'Atlantis') throw new Error('no such harbour')
          return { content: [{ type: 'text', text: `High water in ${args.harbour} at six.` }] }
        },
      ),
  })
  const { page, assistantId } = await site.signedIn()
  await openTab(page, assistantId)
  await card(page, 'MCP server').click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('Name').fill('harbour')
  await panel.getByLabel('Address').fill('http://127.0.0.1:1/mcp')
  await panel.getByRole('button', { name: 'Save and test' }).click()
  await panel.getByRole('alert').waitFor()
  await panel.getByLabel('Address').fill(mcp.url)
  await save(panel)
  await page.getByText(`${new URL(mcp.url).host} · all tools`).waitFor()
  await page.getByRole('button', { name: 'Test: harbour' }).click()
  await panel.getByText('The service offers 1 tool to the model:').waitFor()
  const call = panel.getByRole('button', { name: 'Call harbour_tides' })
  await call.click()
  expect(calls).toEqual([])
  await panel.getByLabel('Harbour', { exact: true }).fill('Kiel')
  await panel.getByLabel('Basin', { exact: true }).selectOption('west')
  await panel.getByLabel('Depths (optional)').fill('[4.5,')
  await call.click()
  await panel.getByText('This is not valid JSON.').waitFor()
  expect(calls).toEqual([])
  await panel.getByLabel('Depths (optional)').fill('[4.5, 6]')
  await call.click()
  await panel.getByText('High water in Kiel at six.').waitFor()
  await panel.getByText(/^Answered after/).waitFor()
  expect(calls).toEqual([{ harbour: 'Kiel', basin: 'west', depths: [4.5, 6] }])
  await site.expectAccessible(page, 'a tool that was called')
  await call.scrollIntoViewIfNeeded()
  await site.picture(page, 'assistant-tools', { size: { width: 1280, height: 900 } })
  await panel.getByLabel('Write the arguments as JSON').check()
  await panel.getByLabel('Arguments as JSON', { exact: true }).fill('{"harbour":"Kiel"}')
  await call.click()
  await panel.getByText('The tool was not called.').waitFor()
  await panel.getByLabel('Arguments as JSON', { exact: true }).fill('{"harbour":"Atlantis","basin":"east"}')
  await call.click()
  await panel.getByText('no such harbour').waitFor()
  expect(calls.length).toBe(2)
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Debug' }).click()
  await page.getByText('Runs use the model account of this service.').waitFor()
  await mcp.close()
})

test('a call of a tool that asks is changed in the form of its tool', async () => {
  const { page } = await site.signedIn({
    'type==agent/tools': [{ type: 'http_request', name: 'tide_tables', ask: true }],
  })
  const body = 'High water?\nLow water?'
  site.model.reply({
    toolCalls: [
      {
        name: 'tide_tables',
        arguments: JSON.stringify({ method: 'GET', url: 'https://tides.example.com/', body, depth: { of: 'Kiel' } })
          // Digits that no double holds.
          .replace('"Kiel"', '["Kiel",9007199254740993]'),
      },
    ],
  })
  site.model.reply({ text: 'I asked elsewhere.' })
  await say(page, 'When is high water?')
  expect(await page.locator('.call-arguments').textContent()).toContain('9007199254740993')
  await page.getByRole('button', { name: 'Change' }).click()
  const panel = page.getByRole('dialog', { name: 'Change the arguments of Tide tables' })
  await panel.getByLabel('Method').waitFor()
  await expect.poll(() => focused(page)).toBe('Method')
  // What the tool does not know is shown too, and can be taken out.
  expect(await panel.getByLabel('Depth (optional)').inputValue()).toBe(
    '{\n  "of": [\n    "Kiel",\n    9007199254740993\n  ]\n}',
  )
  await panel.getByLabel('Depth (optional)').fill('')
  await panel.getByLabel('URL').fill(`${site.service.url}/ok`)
  await panel.getByRole('button', { name: 'Run with these arguments' }).click()
  await page.locator('.markdown', { hasText: 'I asked elsewhere.' }).waitFor()
  const results = JSON.stringify(site.model.requests.at(-1)?.body.messages)
  expect(results).toContain('HTTP 200')
  expect(results).not.toContain('Kiel')
})
