import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { slowness } from '../support/slowness.ts'
import { type Console, look, say, startConsole, tasksDuring } from './support.ts'

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

test('a table keeps its words and numbers whole, scrolls in its box, and is copied as Markdown and CSV', async () => {
  const { page } = await site.signedIn()
  const text = [
    '| Position | Amount | Share | Explanation of the position | Reference |',
    '| --- | --: | --- | --- | :-: |',
    '| Harbour fees | 830,500.00 € | 12.5 % | Paid by a, b and c for each day of the year | `Hafengebührenverordnung2026` |',
    '| Repairs | −1,200.00 € | – | of the crane \\| pier | 17 |',
  ].join('\n')
  site.model.reply({ text: `Here it is:\n\n${text}\n\nThat is all.` })
  await say(page, 'Show me the table')
  await page.getByText('That is all.', { exact: true }).waitFor()
  const facts = () =>
    page.evaluate<{ broken: string[]; numbers: string[]; fits: boolean; pageFits: boolean }>(`(() => {
      const cells = [...document.querySelectorAll('.answer-table :is(td, th)')]
      const broken = cells.flatMap((cell) => {
        const found = []
        const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
        while (walker.nextNode())
          for (const { 0: word, index } of walker.currentNode.data.matchAll(/\\S+/g)) {
            const range = document.createRange()
            range.setStart(walker.currentNode, index)
            range.setEnd(walker.currentNode, index + word.length)
            if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word)
          }
        return found
      })
      const box = document.querySelector('.answer-table .scroll-x')
      const numbers = cells.filter((cell) => getComputedStyle(cell).textAlign === 'right').map((cell) => cell.innerText)
      return {
        broken,
        numbers,
        fits: box.scrollWidth <= box.clientWidth,
        pageFits: document.documentElement.scrollWidth <= innerWidth,
      }
    })()`)
  const wide = await facts()
  expect(wide.broken).toEqual([])
  expect(wide.numbers).toEqual(['Amount', 'Share', '830,500.00 €', '12.5 %', '−1,200.00 €', '–'])
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await facts()).toMatchObject({ broken: [], fits: false, pageFits: true })
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.locator('.answer-table').hover()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
  await page.getByRole('button', { name: 'Copy table' }).click()
  await expect.poll(clipboard).toContain('| Repairs | −1,200.00 € | – | of the crane \\| pier | 17 |')
  await page.getByRole('button', { name: 'Copy as CSV' }).click()
  await expect
    .poll(clipboard)
    .toContain(
      'Harbour fees,"830,500.00 €",12.5 %,"Paid by a, b and c for each day of the year",Hafengebührenverordnung2026',
    )
  await site.expectAccessible(page, 'a table')
})

test('text runs in its own direction, HTML is shown as text, and check boxes of tasks have names', async () => {
  const { page } = await site.signedIn()
  const text =
    'שלום! המחיר הוא 25.\n\n1. אחת\n2. שתיים\n\n- [x] Paid\n- [ ] Sent\n\nOne<br>two <b>bold</b> <berth>kept</berth>\n\n<div>\nIn a block\n</div>'
  site.model.reply({ text })
  await say(page, 'مرحبا')
  await page.locator('.markdown', { hasText: 'In a block' }).waitFor()
  expect(await page.getByRole('checkbox', { name: 'Done' }).isChecked()).toBe(true)
  expect(await page.getByRole('checkbox', { name: 'To do' }).isChecked()).toBe(false)
  expect(await page.locator('p', { hasText: 'kept' }).innerText()).toBe('One\ntwo bold <berth>kept</berth>')
  const directionOf = (words: string) =>
    page.evaluate<string>(`getComputedStyle([...document.querySelectorAll('.markdown p, .bubble')]
      .find(({ textContent }) => textContent.includes('${words}'))).direction`)
  expect([await directionOf('שלום'), await directionOf('One'), await directionOf('مرحبا')]).toEqual([
    'rtl',
    'ltr',
    'rtl',
  ])
  // The numbers of a list stand within the column, on the side where its lines begin.
  const inset = await page.locator('.markdown ol li').evaluateAll((entries) =>
    entries.map((entry) => {
      const list = entry.parentElement?.getBoundingClientRect()
      return list === undefined ? 0 : list.right - entry.getBoundingClientRect().right
    }),
  )
  expect(inset.length).toBe(2)
  for (const space of inset) expect(space).toBeGreaterThan(10)
})

test('the view stays at the end, lets go when it is scrolled up, and comes back by a button or a message', async () => {
  const { page } = await site.signedIn()
  const long = Array.from({ length: 80 }, (_, line) => `Line ${line} of the answer.`).join('\n\n')
  site.model.reply({ text: `${long}\n\n$$x^2$$\n\nThe end.` })
  await say(page, 'Tell me all')
  const box = page.getByRole('region', { name: 'Messages' })
  const distance = () =>
    page.evaluate<number>(`(() => {
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.chat-scroll')
      return scrollHeight - scrollTop - clientHeight
    })()`)
  await page.locator('math').waitFor({ state: 'attached' })
  await expect.poll(distance).toBeLessThan(2)
  const toEnd = page.getByRole('button', { name: 'To the newest message' })
  expect(await toEnd.count()).toBe(0)
  await box.hover()
  await page.mouse.wheel(0, -600)
  await toEnd.waitFor()
  await toEnd.click()
  await expect.poll(distance).toBeLessThan(2)
  await page.mouse.wheel(0, -1200)
  await toEnd.waitFor()
  // Nothing leads to an end that is in sight.
  await page.evaluate(`document.querySelector('.chat-scroll').scrollTop = 0`)
  await page.setViewportSize({ width: 1280, height: 8000 })
  await toEnd.waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1280, height: 720 })
  // Whether the view took hold of the end, or is still at the top, as it was.
  await page.mouse.wheel(0, -1200)
  await toEnd.waitFor()
  // In a narrower window the same text is longer: nothing new has come.
  await page.setViewportSize({ width: 420, height: 600 })
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  const news = page.locator('.to-end-news')
  expect(await news.count()).toBe(0)
  await toEnd.click()
  const more = Promise.withResolvers<void>()
  site.model.reply({ text: [`${long}\n\nThe middle.`, more.promise, '\n\nThe rest.'] })
  await say(page, 'Tell me again')
  await page.getByText('The middle.').waitFor()
  await box.hover()
  await page.mouse.wheel(0, -600)
  await toEnd.waitFor()
  expect(await news.count()).toBe(0)
  more.resolve()
  await news.waitFor()
  await look(page, 'something-came')
  site.model.reply({ text: 'A short answer.' })
  await say(page, 'And more')
  await page.getByText('A short answer.', { exact: true }).waitFor()
  await expect.poll(distance).toBeLessThan(2)
  expect(await toEnd.count()).toBe(0)
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
  expect(await page.locator('.markdown pre').allTextContents()).toEqual(undrawable)
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

/** Milliseconds of processor time that a page may stand still for. */
const longestTaskMs = () => 200 * slowness()

test('a text that would take seconds to read as Markdown is shown as it is, and holds nothing up', async () => {
  const { page } = await site.signedIn()
  const plain = page.locator('.markdown-plain', { hasText: '*a_ *a_' })
  const stars = async () => {
    site.model.reply({ text: '*a_ '.repeat(5000) })
    await say(page, 'Stars')
    await plain.waitFor()
  }
  expect((await tasksDuring(page, stars))[0]).toBeLessThan(longestTaskMs())
  expect(await plain.locator('em').count()).toBe(0)
})

test('3,000 lines of code are folded, coloured, and hold nothing up while they stream or when they are opened', async () => {
  const { page } = await site.signedIn()
  const lines = Array.from(
    { length: 3000 },
    (_, line) => `  const value${line} = compute(${line}, 'text') // (a comment)`,
  )
  const pieces = Array.from({ length: 300 }, (_, piece) => `${lines.slice(piece * 10, piece * 10 + 10).join('\n')}\n`)
  const done = page.getByText('That was all.', { exact: true })
  const streamed = async () => {
    site.model.reply({ text: ['Here **it** is:\n\n```ts\n', ...pieces, '```\n\nThat was all.'] })
    await say(page, 'Write it')
    await done.waitFor()
  }
  expect((await tasksDuring(page, streamed))[0]).toBeLessThan(longestTaskMs())
  const code = page.locator('.markdown pre')
  expect((await code.innerText()).trimEnd().split('\n')).toEqual(lines.slice(0, 40))
  await code.locator('.hljs-keyword').first().waitFor()
  const showAll = page.getByRole('button', { name: 'Show all 3,000 lines' })
  const opened = async () => {
    await page.reload()
    await done.waitFor()
    await code.locator('.hljs-keyword').first().waitFor()
    await showAll.click()
    await expect.poll(async () => (await code.textContent())?.trimEnd().split('\n').length).toBe(3000)
  }
  expect((await tasksDuring(page, opened))[0]).toBeLessThan(longestTaskMs())
  await page.getByRole('button', { name: 'Wrap long lines' }).click()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.locator('.code-wrap').getByRole('button', { name: 'Copy' }).click()
  await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(lines.join('\n'))
  await page.getByRole('button', { name: 'Show fewer lines' }).click()
  await showAll.waitFor()
  await site.expectAccessible(page, 'code that is folded')
})

test('a beginning of an answer that is finished is not drawn again', async () => {
  const { page } = await site.signedIn()
  const more = Promise.withResolvers<void>()
  const beginning = `${'Some words of the **first** part. '.repeat(80)}\n\n`
  site.model.reply({ text: [beginning, 'The second', more.promise, ' part.\n\n```js\nlet a = 1\n```\n\nThe end.'] })
  await say(page, 'Tell me')
  await page.locator('.markdown strong').first().waitFor()
  await page.getByText('The second').waitFor()
  await page.evaluate("document.querySelector('.markdown > p').dataset.kept = 'yes'")
  more.resolve()
  await page.getByText('The end.').waitFor()
  expect(await page.locator('.markdown > p[data-kept="yes"] strong').count()).toBe(80)
})

test('of a chat with 1,000 messages, only what is near is in the page', async () => {
  const { page, user, assistantId } = await site.signedIn()
  const thread = await user.post('/threads/', { name: 'Long talk', assistant_id: assistantId })
  const messages = Array.from({ length: 500 }, (_, turn) => [
    { type: 'human', content: `Question ${turn}` },
    {
      type: 'ai',
      content: `## Answer ${turn}\n\n${'Words and **more** words. '.repeat(40)}\n\n- one\n- two\n\nEnd of ${turn}.`,
    },
  ]).flat()
  await user.post(`/threads/${thread.thread_id}/state`, { values: { messages } })
  await page.reload()
  const open = async () => {
    await page.getByRole('link', { name: 'Long talk' }).click()
    await page.getByText('End of 499.').waitFor()
  }
  const tasks = await tasksDuring(page, open)
  expect(tasks[0]).toBeLessThan(longestTaskMs())
  expect(tasks.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(500 * slowness())
  expect(await page.locator('.turn').count()).toBe(500)
  expect(await page.locator('.turn-ai').count()).toBeLessThan(20)
  // On paper, all of it is.
  await page.evaluate("dispatchEvent(new Event('beforeprint'))")
  expect(await page.locator('.turn-ai').count()).toBe(500)
  await page.evaluate("dispatchEvent(new Event('afterprint'))")
  await expect.poll(() => page.locator('.turn-ai').count()).toBeLessThan(20)
  await page.evaluate("document.querySelector('.chat-scroll').scrollTop = 0")
  await page.getByText('End of 0.').waitFor()
  await expect.poll(() => page.getByText('End of 498.').count()).toBe(0)
  await page.getByRole('button', { name: 'To the newest message' }).click()
  await page.getByText('End of 498.').waitFor()
  // A message that was searched for is in the page before anybody has scrolled to it.
  const { values } = await user.get(`/threads/${thread.thread_id}/state`)
  const wanted = values.messages.find(({ data }: { data: { content: string } }) => data.content === 'Question 250')
  await page.goto(`${site.url}/console/chat/${thread.thread_id}?message=${wanted.data.id}`)
  await expect.poll(() => page.evaluate<string>('document.activeElement?.textContent ?? ""')).toContain('Question 250')
})
