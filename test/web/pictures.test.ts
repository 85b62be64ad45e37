import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { pngOf, scanOf, pdfOf } from '../support/scans.ts'
import { useStarted } from '../support/use-started.ts'
import { say, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

/** `zeros` are bytes that follow; made in the page, which would take long to read as many from text. */
type Given = { name: string; type: string; content: Buffer; zeros?: number }

/** Pastes or drops files as a browser does. */
async function give(page: Page, kind: 'paste' | 'drop', files: Given[]) {
  const given = files.map(({ content, ...file }) => ({ ...file, content: content.toString('base64') }))
  await page.evaluate(`(() => {
    const data = new DataTransfer()
    for (const { name, type, content, zeros = 0 } of ${JSON.stringify(given)}) {
      const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0))
      data.items.add(new File([bytes, new Uint8Array(zeros)], name, { type }))
    }
    const target = document.querySelector('textarea')
    const event = ${JSON.stringify(kind)} === 'paste'
      ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
      : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
    target.dispatchEvent(event)
  })()`)
}

test('pictures are pasted or dropped, seen before and after they are sent, and sent again', async () => {
  const picture = { name: 'pier.png', type: 'image/png', content: pngOf(await scanOf(pdfOf(['The pier at noon']))) }
  const { page, user } = await site.signedIn()
  await give(page, 'paste', [picture])
  await page.getByRole('img', { name: 'pier.png' }).waitFor()
  await give(page, 'drop', [
    { ...picture, name: 'mole.png' },
    { name: 'huge.png', type: 'image/png', content: Buffer.of(), zeros: 8 * 1024 * 1024 + 1 },
  ])
  await page.getByRole('img', { name: 'mole.png' }).waitFor()
  await page.getByText('“huge.png” is too large: a picture has at most 8 MB').waitFor()
  await site.expectAccessible(page, 'pictures before they are sent')
  await page.getByRole('button', { name: 'Remove mole.png from the list' }).click()
  expect(await page.locator('.added-picture').count()).toBe(1)

  const reply = site.model.reply({ text: 'A pier.' })
  await say(page, 'What is this?')
  const url = `data:image/png;base64,${picture.content.toString('base64')}`
  const asked = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url } },
  ]
  expect((await reply.arrived).body.messages.at(-1)?.content).toEqual(asked)
  await page.locator('.markdown', { hasText: 'A pier.' }).waitFor()
  expect(await page.locator('.added-picture').count()).toBe(0)
  const shown = page.getByRole('img', { name: 'Picture 1' })
  await shown.waitFor()

  // From the service.
  await page.reload()
  await shown.waitFor()
  const width = "document.querySelector('.message-pictures img').naturalWidth"
  await expect.poll(() => page.evaluate<number>(width)).toBeGreaterThan(1000)
  await page.getByRole('button', { name: 'Show picture 1 large' }).click()
  await page.getByRole('dialog').getByRole('img', { name: 'Picture' }).waitFor()
  await site.expectAccessible(page, 'a picture')
  await page.keyboard.press('Escape')

  // A new version of the question has them too.
  const second = site.model.reply({ text: 'Still a pier.' })
  await page.locator('.turn-human').hover()
  await page.getByRole('button', { name: 'Edit the message' }).click()
  await page.getByRole('dialog').getByLabel('Message').fill('And now?')
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
  expect((await second.arrived).body.messages.at(-1)?.content).toEqual([{ type: 'text', text: 'And now?' }, asked[1]])
  await page.locator('.markdown', { hasText: 'Still a pier.' }).waitFor()

  // Alone, in a chat that is named after it; refused, it comes back.
  await page.getByRole('link', { name: 'New chat' }).click()
  // The earlier chat stays until this page is loaded, and would take the picture.
  await page.locator('.hello-title').waitFor()
  await page.route('**/runs/', (route) => route.fulfill({ status: 503, json: { detail: 'Away' } }))
  await give(page, 'paste', [picture])
  await page.getByRole('img', { name: 'pier.png' }).waitFor()
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('img', { name: 'pier.png' }).waitFor()
  await page.unroute('**/runs/')
  site.model.reply({ text: 'The same.' })
  await page.getByRole('button', { name: 'Send' }).click()
  await page.locator('.markdown', { hasText: 'The same.' }).waitFor()
  expect(await page.locator('.bubble').count()).toBe(0)
  const { threads } = await user.get('/threads/')
  expect(threads.map(({ name }: { name: string }) => name)).toContain('Picture')
})

test('code that was executed is a card with its output, pictures and files', async () => {
  const { page } = await site.signedIn({ 'type==agent/tools': [{ type: 'code' }] })
  const picture = pngOf(await scanOf(pdfOf(['Tides of the week']))).toString('base64')
  const code = [
    'import base64',
    `open("tides.png", "wb").write(base64.b64decode("${picture}"))`,
    'open("tides.csv", "w").write("day,metres\\n1,2.5\\n")',
    'print("high water:", 6 * 7)',
  ].join('\n')
  site.model.reply({ toolCalls: [{ name: 'code', arguments: { code } }] })
  site.model.reply({ text: 'It is done.' })
  await say(page, 'Draw the tides')
  await page.getByText('It is done.').first().waitFor()
  await page.getByText('Executed Python').click()
  expect(await page.getByRole('region', { name: 'Output' }).textContent()).toContain('high water: 42')
  await page.getByRole('img', { name: 'Drawn by the code: tides.png' }).waitFor()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save tides.csv' }).click()
  expect((await saved).suggestedFilename()).toBe('tides.csv')
  await site.expectAccessible(page, 'code that was executed')
})
