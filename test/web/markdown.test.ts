import { type AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Console, say, startConsole } from './support.ts'

let site: Console
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const reached: string[] = []
const agents: string[] = []
const elsewhere = createServer((request, response) => {
  reached.push(request.url ?? '')
  agents.push(request.headers['user-agent'] ?? '')
  if (request.url !== '/shown.png') return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': 'text/html' }).end(png)
})
const other = () => `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
beforeAll(async () => {
  site = await startConsole({ OUTBOUND_ALLOW: '127.0.0.1' })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  elsewhere.close()
  await site.close()
})

test('a picture of another site is loaded through the service, and only when it is asked for', async () => {
  const { page } = await site.signedIn()
  const picture = `${other()}/shown.png`
  site.model.reply({ text: `![A chart](${picture}) and ![Gone](${other()}/gone.png) ![bad](javascript:alert(1))` })
  await say(page, 'Show me')
  const offers = page.locator('.remote-picture-offer')
  await expect.poll(() => offers.count()).toBe(2)
  expect(await offers.first().textContent()).toContain('Picture from 127.0.0.1 · A chart')
  expect(reached).toEqual([])
  await offers.first().getByRole('button', { name: 'Show it' }).click()
  await page.getByRole('img', { name: 'A chart' }).waitFor()
  await offers.first().getByRole('button', { name: 'Show it' }).click()
  await page.getByRole('link', { name: 'Open its address' }).waitFor()
  expect(reached.splice(0)).toEqual(['/shown.png', '/gone.png'])
  expect(agents).not.toContain(await page.evaluate('navigator.userAgent'))
  await site.expectAccessible(page, 'a picture')
})

test('a diagram is drawn in a frame that can do nothing else, and what is no diagram stays its source', async () => {
  const { page } = await site.signedIn()
  const hostile = [
    'flowchart LR',
    '  A[Question] --> B[<img src=x onerror="parent.document.title=1">Answer]',
    `  click A "${other()}/secret" _self`,
  ].join('\n')
  const undrawable = [
    'this is no diagram',
    `flowchart LR\n  A@{ img: "${other()}/secret.png", label: "Picture", w: 60, h: 60 }`,
  ]
  const text = [hostile, ...undrawable].map((source) => `\`\`\`mermaid\n${source}\n\`\`\``).join('\n\n')
  site.model.reply({ text })
  await say(page, 'Draw it')
  const frame = page.frameLocator('iframe.diagram-frame').first()
  await frame.locator('svg').getByText('Question').waitFor()
  await page.getByRole('button', { name: 'Show its source' }).waitFor()
  // The frames of the others are taken away.
  await expect.poll(() => page.locator('iframe').count()).toBe(1)
  expect(await page.locator('.markdown pre').allTextContents()).toEqual(undrawable.map((source) => `${source}\n`))
  await site.expectAccessible(page, 'a diagram')

  const drawn = page.frames().find((one) => one.url().endsWith('/diagram'))
  expect(await drawn?.evaluate('window.origin')).toBe('null')
  await page.getByRole('button', { name: 'Show its source' }).click()
  await page.locator('.markdown pre').getByText('A[Question]').waitFor()
  await page.getByRole('button', { name: 'Show the diagram' }).click()
  expect(await page.locator('.markdown pre').count()).toBe(undrawable.length)
  await drawn?.evaluate(`fetch('${other()}/fetched').catch(() => undefined)`)
  await drawn?.evaluate(`{ const a = document.createElement('a'); a.href = '${other()}/left'; a.click() }`)
  expect(await page.title()).not.toBe('1')
  // What the policy of the frame refused.
  const refused = () => site.problems.filter((problem) => /Content Security Policy/.test(problem))
  for (const what of ['secret.png', '/fetched', 'Framing'])
    await expect.poll(() => refused().join('\n')).toContain(what)
  expect(reached).toEqual([])
  await page.close()
  const others = site.problems.filter((problem) => !/Content Security Policy/.test(problem))
  site.problems.splice(0, site.problems.length, ...others)
})

test('a text that would take seconds to read as Markdown is shown as it is', async () => {
  const { page } = await site.signedIn()
  site.model.reply({ text: '*a_ '.repeat(5000) })
  await say(page, 'Stars')
  const plain = page.locator('.markdown-plain', { hasText: '*a_ *a_' })
  await plain.waitFor()
  expect(await plain.locator('em').count()).toBe(0)
})
