import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { pagedPdf } from '../support/paged-pdf.ts'
import { useStarted } from '../support/use-started.ts'
import { look, say, startConsole } from './support.ts'

const site = useStarted(() => startConsole({ OUTBOUND_ALLOW: '127.0.0.1' }))

const handbook = pagedPdf([
  ['Handbook of the harbour', 'Ships announce themselves on channel 12. The office opens at six.'],
  ['Berths', 'A berth for a boat of twelve metres costs 48 marks a', 'night. The fee includes water and light.'],
  ['Winter', 'From December on the inner basin is closed to sailing boats.'],
])
const longName = `${'very-long-name-of-a-table-'.repeat(6)}fees.csv`
const files = [
  { name: 'handbook.pdf', mimeType: 'application/pdf', content: handbook.toString('base64') },
  { name: longName, mimeType: 'text/csv', content: btoa('service,marks\ncrane,80\ntug,120\n') },
  { name: 'notes.md', mimeType: 'text/markdown', content: btoa('# Notes\n\nSalt *helps* against ice on the pier.\n') },
]

/** Drops files onto an element of the page. */
async function drop(page: Page, selector: string, dropped: typeof files): Promise<void> {
  const transfer = await page.evaluateHandle(`(() => {
    const data = new DataTransfer()
    for (const { name, mimeType, content } of ${JSON.stringify(dropped)})
      data.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], name, { type: mimeType }))
    return data
  })()`)
  for (const type of ['dragover', 'drop']) await page.dispatchEvent(selector, type, { dataTransfer: transfer })
}

const marked = (page: Page) =>
  page.evaluate<string>("[...(CSS.highlights.get('quote') ?? [])].map((range) => String(range)).join('')")

const focused = (page: Page, member: string) => page.evaluate<unknown>(`document.activeElement?.${member}`)

const search = { toolCalls: [{ name: 'retrieval', arguments: { query: 'berth fee crane ice' } }] }

test('an answer shows its sources: marks, a line, and the originals with the sentence marked', async () => {
  const { page } = await site.signedIn()
  await drop(page, '.threads', files)
  await page.locator('.attachment[data-phase="ready"]').first().waitFor()
  const ready = page.getByText('is ready.').last()
  await ready.waitFor()
  await expect
    .poll(async () => (await page.locator('.attachment:not([data-phase="ready"])').count()) === 0, { timeout: 60_000 })
    .toBe(true)

  site.model.reply(search)
  site.model.reply({
    text: [
      'A berth for **twelve metres** costs 48 marks (handbook.pdf, page 2), and the basin is closed in winter (handbook.pdf, page 3).\n\n',
      `- Using the crane costs 80 marks (${longName})\n- Salt helps against ice (notes.md, Notes)\n- And a berth again (handbook.pdf, page 2)`,
    ],
  })
  await say(page, 'What does a berth cost, and a crane?')
  const sources = page.locator('.sources')
  await sources.waitFor()
  const marks = page.locator('.markdown .mark')
  await expect.poll(() => marks.allTextContents()).toEqual(['1', '2', '3', '4', '1'])
  expect(await sources.locator('.source').allTextContents()).toEqual([
    '1handbook.pdf, p. 2',
    '2handbook.pdf, p. 3',
    expect.stringMatching(/^3very-long-name.*….*fees\.csv, row 2$/),
    expect.stringContaining('4notes.md'),
  ])
  // The call of the tool is one line that unfolds.
  await page.getByText('Searched the files for “berth fee crane ice”').click()
  await page.locator('.tool-body .passage', { hasText: '48 marks a night.' }).waitFor()
  await page.getByText('Searched the files for “berth fee crane ice”').click()
  await page.locator('.mark').first().hover()
  await page.getByRole('tooltip').filter({ hasText: 'costs 48 marks a night' }).first().waitFor({ state: 'attached' })

  await page.locator('.mark').first().click()
  const panel = page.getByRole('complementary', { name: 'Source 1: handbook.pdf' })
  await panel.locator('.pdf-sheet[data-ready="true"]').waitFor()
  await expect.poll(() => marked(page)).toBe('A berth for a boat of twelve metres costs 48 marks anight.')
  await page.getByText('Page 2 of 3').waitFor()
  // Larger, the sentence is still in view.
  const sheet = panel.locator('.pdf-sheet')
  const width = (await sheet.boundingBox())?.width ?? 0
  await page.getByRole('button', { name: 'Zoom in' }).click()
  await expect.poll(async () => (await sheet.boundingBox())?.width).toBe(width * 1.5)
  await panel.locator('.pdf-sheet[data-ready="true"]').waitFor()
  await expect.poll(() => marked(page)).toContain('costs 48 marks')
  await site.expectAccessible(page, 'a source beside the chat')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the file' }).click()
  expect((await download).suggestedFilename()).toBe('handbook.pdf')
  const next = page.getByRole('button', { name: 'Next source' })
  await next.click()
  await page.getByText('Page 3 of 3').waitFor()
  await expect.poll(() => marked(page)).toContain('the inner basin is closed')
  await next.click()
  await page.locator('.quoted-row', { hasText: 'crane' }).waitFor()
  await next.click()
  await page.locator('.side-panel em', { hasText: 'helps' }).waitFor()
  await expect.poll(() => marked(page)).toBe('Salt helps against ice on the pier.')
  await page.keyboard.press('Escape')
  await page.locator('.side-panel').waitFor({ state: 'detached' })
  expect(await focused(page, 'className')).toBe('mark')

  await page.evaluate(() => localStorage.setItem('assistant-platform.theme', 'dark'))
  await page.reload()
  await sources.waitFor()
  await page.locator('.source').nth(0).click()
  await page.locator('.pdf-sheet[data-ready="true"]').waitFor()
  await site.expectAccessible(page, 'a source in the dark')
  await page.setViewportSize({ width: 360, height: 740 })
  await site.expectAccessible(page, 'a source on a phone')
  await page.evaluate(() => localStorage.removeItem('assistant-platform.theme'))
})

test('Back closes what lies beside the chat; Forward and a reload show it again, on a phone, too', async () => {
  const { page } = await site.signedIn()
  await drop(page, '.threads', files.slice(2))
  await page.getByText('is ready.').last().waitFor()
  site.model.reply(search)
  site.model.reply({
    text: 'Salt helps (notes.md, Notes).\n\n```ts\nexport const salt = 80\nexport const ice = 12\n```\n',
  })
  await say(page, 'What helps against ice?')
  const source = page.getByRole('complementary', { name: 'Source 1: notes.md' })
  const mark = page.locator('.markdown .mark')
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 })
    await mark.waitFor()
    const chat = page.url()
    await mark.click()
    await source.waitFor()
    await look(page, `beside-${width}`)
    await page.goBack()
    await source.waitFor({ state: 'detached' })
    expect(await focused(page, 'className')).toBe('mark')
    await page.goForward()
    await source.waitFor()
    await page.reload()
    await source.locator('em', { hasText: 'helps' }).waitFor()
    expect(page.url()).toBe(chat)
    // The button and Escape go back, too, and no further than to the chat.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await source.waitFor({ state: 'detached' })
    await mark.waitFor()
    expect(page.url()).toBe(chat)
  }
  await page.setViewportSize({ width: 1440, height: 844 })
  // A document takes the place of the source, and the chat before it is one step back.
  await mark.click()
  await source.waitFor()
  await page.getByRole('button', { name: 'Open beside the chat' }).first().click()
  const opened = page.locator('.side-panel-wide')
  await opened.waitFor()
  expect(await source.count()).toBe(0)
  await page.reload()
  await opened.getByText('Version 1').first().waitFor()
  await page.goBack()
  await opened.waitFor({ state: 'detached' })
  await mark.waitFor()
})

test('a question has versions in place; a stopped answer starts anew; a new chat is a choice', async () => {
  const { page } = await site.signedIn()
  await site.picture(page, 'new-chat')
  const never = Promise.withResolvers<void>()
  site.model.reply({ text: ['Half of it', never.promise] })
  await say(page, 'Tell me all')
  await page.locator('.caret').getByText('Half of it').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('status').filter({ hasText: 'The answer is stopped.' }).waitFor({ state: 'attached' })
  never.resolve()
  site.model.reply({ text: 'All of it.' })
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.markdown', { hasText: 'All of it.' }).waitFor()
  await page.getByText('2/2').waitFor()
  expect(await page.locator('.markdown').allTextContents()).toEqual(['All of it.'])
  expect(JSON.stringify(site.model.requests.at(-1)?.body.messages)).not.toContain('Half of it')

  site.model.reply({ text: 'More.' })
  await say(page, 'And then?')
  await page.locator('.markdown', { hasText: 'More.' }).waitFor()
  // The earlier version is shown again, also after a reload, and what is written there continues it.
  await page.getByRole('button', { name: 'Previous version' }).click()
  await page.locator('.markdown', { hasText: 'Half of it' }).waitFor()
  expect(await page.locator('.bubble').allTextContents()).toEqual(['Tell me all'])
  site.model.reply({ text: 'From the half.' })
  await say(page, 'Go on')
  await page.locator('.markdown', { hasText: 'From the half.' }).waitFor()
  const asked = JSON.stringify(site.model.requests.at(-1)?.body.messages)
  expect(asked).toContain('Half of it')
  expect(asked).not.toContain('All of it')
  await page.reload()
  await page.locator('.markdown', { hasText: 'From the half.' }).waitFor()
  expect(await page.locator('.bubble').allTextContents()).toEqual(['Tell me all', 'Go on'])
  await page.getByRole('button', { name: 'Next version' }).click()
  await page.locator('.markdown', { hasText: 'More.' }).waitFor()

  // Edited: in place, or in a chat with a name of its own.
  const turn = page.locator('.turn-human', { hasText: 'And then?' })
  await turn.hover()
  await turn.getByRole('button', { name: 'Edit the message' }).click()
  const field = page.getByRole('dialog').getByLabel('Message')
  expect(await focused(page, 'tagName')).toBe('TEXTAREA')
  expect(await focused(page, 'value')).toBe('And then?')
  await page.keyboard.press('Escape')
  expect(await focused(page, 'ariaLabel')).toBe('Edit the message')
  await page.keyboard.press('Enter')
  await field.fill('What was before?')
  site.model.reply({ text: 'Before that.' })
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
  await page.locator('.markdown', { hasText: 'Before that.' }).waitFor()
  expect(await page.locator('.bubble').allTextContents()).toEqual(['Tell me all', 'What was before?'])
  expect(await page.locator('.thread-item').count()).toBe(1)
  await site.expectAccessible(page, 'versions')
  site.model.reply({ text: 'Elsewhere.' })
  await page.locator('.turn-human', { hasText: 'What was before?' }).hover()
  await page.locator('.turn-human', { hasText: 'What was before?' }).getByRole('button', { name: 'Edit' }).click()
  await field.fill('What is elsewhere?')
  await page.getByRole('dialog').getByRole('button', { name: 'In a new chat' }).click()
  await page.locator('.markdown', { hasText: 'Elsewhere.' }).waitFor()
  expect(await page.locator('.thread-item a').allTextContents()).toEqual(['What is elsewhere?', 'Tell me all'])
})

test('what waits, is rejected, or is gone says so; a name of any length stays in its place', async () => {
  const url = `${site.service.url}/ok`
  const tool = { type: 'http_request', name: 'tide_tables' }
  const { page, user, assistantId } = await site.signedIn({
    'type==agent/tools': [tool],
    'type==agent/interrupt_before_action': true,
  })
  const name = 'Wasserstandsvorhersageassistent'.repeat(12)
  await user.call('PUT', `/assistants/${assistantId}`, {
    name,
    config: { 'type==agent/tools': [tool], 'type==agent/interrupt_before_action': true },
  })
  const { project_id: projectId } = await user.post('/projects/', { name: `${name.slice(0, 100)}` })
  expect(projectId).toBeDefined()

  site.model.reply({ toolCalls: [{ name: 'tide_tables', arguments: { method: 'GET', url } }] })
  site.model.reply({ text: 'Then not.' })
  await say(page, name)
  await page.getByText('The assistant asks before it acts').waitFor()
  await page.getByRole('status').filter({ hasText: 'waits for your decision' }).waitFor({ state: 'attached' })
  // Time in which a person thinks does not count: here it is an hour.
  const { runs } = site.service.collections
  const hourAgo = new Date(Date.now() - 3_600_000)
  const waits = { user_id: user.userId, status: 'interrupted' as const }
  await expect.poll(() => runs.countDocuments(waits)).toBe(1)
  await runs.updateOne(waits, { $set: { waiting_since: hourAgo, started_at: new Date(hourAgo.getTime() - 2000) } })
  await page.getByRole('button', { name: 'Reject' }).click()
  expect(await focused(page, 'tagName')).toBe('TEXTAREA')
  await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
  await page.getByText('Rejected: Tide tables').waitFor()
  await page.locator('.markdown', { hasText: 'Then not.' }).waitFor()
  await expect.poll(() => page.locator('.turn-facts').textContent()).toMatch(/^(?:< 0\.1|\d+\.\d) s/)
  // What took no time that can be named is not said to have taken none.
  const answered = { user_id: user.userId, status: 'success' as const }
  await runs.updateMany(answered, [{ $set: { started_at: '$finished_at', waited_ms: 0 } }], { updatePipeline: true })
  await page.reload()
  await expect.poll(() => page.locator('.turn-facts').textContent()).toMatch(/^< 0\.1 s/)

  const places = ['chat', `assistants/${assistantId}`, 'assistants', 'projects', 'schedules', 'usage']
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 740 })
    for (const place of [new URL(page.url()).pathname.split('/console/')[1] ?? '', ...places]) {
      await page.goto(`${site.url}/console/${place}`)
      await page.locator('h1').first().waitFor()
      await page.waitForLoadState('networkidle')
      const beyond = await page.evaluate<string[]>(`[...document.querySelectorAll('body *')]
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.scroll-x, .tabs, .sidebar'))
        .map((one) => one.className || one.tagName)`)
      expect(beyond, `${place} at ${width}`).toEqual([])
    }
  }

  // Changes of an assistant are not lost by a click.
  await page.goto(`${site.url}/console/assistants/${assistantId}`)
  await page.getByLabel('Description').fill('Changed')
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
  await page.keyboard.press('Escape')
  expect(await page.getByLabel('Description').inputValue()).toBe('Changed')
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('button', { name: 'Leave', exact: true }).click()
  await page.getByRole('heading', { name: 'Usage' }).waitFor()

  await page.goto(`${site.url}/console/chat/00000000-0000-7000-8000-000000000000`)
  await page.getByRole('heading', { name: 'This chat is gone' }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0)
  await site.expectAccessible(page, 'a chat that is gone')
})

test('files are read side by side, stay in their chat, and a message waits for them, or goes out at once', async () => {
  const { page } = await site.signedIn()
  const goOn = Promise.withResolvers<void>()
  // The largest file is held back on its way.
  await page.route('**/files?wait=false', async (route) => {
    if ((route.request().postData() ?? '').includes('large.txt')) await goOn.promise
    await route.continue()
  })
  const text = (name: string, content: string) => ({ name, mimeType: 'text/plain', content: btoa(content) })
  await drop(page, 'h1', [
    text('large.txt', 'The harbour is large. '.repeat(2000)),
    text('small.txt', 'The pier is small.'),
    text('empty.txt', ''),
  ])
  await Promise.all([
    page.locator('.attachment[data-phase="failed"]', { hasText: 'empty.txt' }).waitFor(),
    // It is said for some seconds, perhaps before the other has failed.
    page.getByText('“small.txt” is ready.').waitFor(),
  ])
  await page.locator('.attachment[data-phase="uploading"]', { hasText: 'large.txt' }).waitFor()
  expect(await page.locator('.attachment[data-phase="failed"]').getByRole('progressbar').count()).toBe(0)
  site.model.reply({ text: 'I do not know it yet.' })
  const waits = page.getByText('Goes out when the file has been read.')
  await say(page, 'How large is it?')
  await waits.waitFor()
  await look(page, 'waits-for-file')
  await site.expectAccessible(page, 'a message that waits for a file')
  expect(await page.locator('.question, .turn-ai').count()).toBe(0)
  await page.getByRole('button', { name: 'Send now' }).click()
  await page.locator('.markdown', { hasText: 'I do not know it yet.' }).waitFor()
  expect(await waits.count()).toBe(0)
  await page.locator('.attachment', { hasText: 'empty.txt' }).waitFor()

  const next = site.model.reply({ text: 'Now I know it.' })
  await say(page, 'And now?')
  await waits.waitFor()
  goOn.resolve()
  expect((await next.arrived).body.messages.at(-1)).toMatchObject({ content: 'And now?' })
  expect((await next.arrived).body.tools?.[0]?.function.name).toBe('retrieval')
  await page.locator('.markdown', { hasText: 'Now I know it.' }).waitFor()
  await page.getByRole('link', { name: 'New chat' }).click()
  await page.locator('.hello-title').waitFor()
  expect(await page.locator('.attachment').count()).toBe(0)
})
