import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { startConsole } from './support.ts'

const site = useStarted(() => startConsole())

test('a first load takes at most 240 KB in few files, requests nothing from other servers, and is ready within seconds', async () => {
  for (const path of ['/', '/console/chat']) {
    const { user } = await site.signedIn()
    const page = await site.newPage(path === '/' ? undefined : user.token)
    const sizes: number[] = []
    const elsewhere: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(site.url) && !request.url().startsWith('data:')) elsewhere.push(request.url())
    })
    // As they came over the network, compressed, headers included.
    const devtools = await site.context.newCDPSession(page)
    await devtools.send('Network.enable')
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
    devtools.on('Network.loadingFinished', ({ encodedDataLength }) => void sizes.push(encodedDataLength))
    const startedAt = Date.now()
    await page.goto(`${site.url}${path}`)
    await page.getByRole('textbox').first().waitFor()
    expect(Date.now() - startedAt).toBeLessThan(15_000)
    await page.waitForLoadState('networkidle')
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    expect(sizes.length).toBeGreaterThan(2)
    expect(bytes).toBeGreaterThan(50_000)
    expect(bytes, `bytes of ${path}`).toBeLessThan(240_000)
    expect(sizes.length, `requests of ${path}`).toBeLessThanOrEqual(32)
    expect(elsewhere).toEqual([])
    console.log(`${path}: ${Math.round(bytes / 1000)} KB in ${sizes.length} files`)
  }
})

test('phones and desktops can install the console, and their bars have the colour of the page', async () => {
  const { page } = await site.signedIn()
  const devtools = await site.context.newCDPSession(page)
  const { url, errors, data = '{}' } = await devtools.send('Page.getAppManifest')
  expect({ url, errors }).toEqual({ url: `${site.url}/manifest.webmanifest`, errors: [] })
  const { name, start_url: start, icons } = JSON.parse(data)
  expect({ name, start }).toEqual({
    name: await page.title().then((title) => title.split(' · ').at(-1)),
    start: '/console',
  })
  for (const { src, type } of icons) {
    const icon = await fetch(`${site.url}${src}`)
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, type])
  }
  const bars = () => page.locator('meta[name="theme-color"]').getAttribute('content')
  expect(await bars()).toBe('#fcfcfa')
  await page.evaluate(() => localStorage.setItem('assistant-platform.theme', 'dark'))
  await page.reload()
  await page.getByRole('textbox').first().waitFor()
  expect(await bars()).toBe('#171916')
})

test('every page fits a phone, and passes axe in both themes', async () => {
  const { page, user, assistantId } = await site.signedIn()
  await page.setViewportSize({ width: 360, height: 740 })
  const paths = ['chat', 'assistants', `assistants/${assistantId}`, 'projects', 'usage', 'plans', 'audit', 'account']
  for (const theme of ['light', 'dark']) {
    await page.evaluate((name) => localStorage.setItem('assistant-platform.theme', name), theme)
    for (const path of paths) {
      await page.goto(`${site.url}/console/${path}`)
      await page.locator('h1').first().waitFor()
      await page.waitForLoadState('networkidle')
      const width = await page.evaluate('document.documentElement.scrollWidth')
      expect(width, path).toBeLessThanOrEqual(360)
      await site.expectAccessible(page, `${path} (${theme})`)
    }
  }
  // One bar with the title, the tabs in one row with the open one in sight, and letters at which iOS does not zoom.
  const thread = await user.post('/threads/', { name: 'Tides', assistant_id: assistantId })
  await page.goto(`${site.url}/console/chat/${thread.thread_id}`)
  const title = page.getByRole('heading', { name: 'Tides' })
  await title.waitFor()
  const bar = await page.locator('.topbar').boundingBox()
  const box = await title.boundingBox()
  expect((box?.y ?? 100) + (box?.height ?? 0)).toBeLessThanOrEqual(bar?.height ?? 0)
  expect(await page.locator('.topbar .brand').isVisible()).toBe(false)
  await page.goto(`${site.url}/console/assistants/${assistantId}?tab=debug`)
  const tabs = page.getByRole('tab')
  await tabs.last().waitFor()
  const places = () => Promise.all([tabs.first(), tabs.last()].map((tab) => tab.boundingBox()))
  await expect.poll(async () => (await places())[1]).toMatchObject({ y: (await places())[0]?.y })
  const open = await page.getByRole('tab', { selected: true }).boundingBox()
  expect(open?.x).toBeGreaterThanOrEqual(0)
  expect((open?.x ?? 999) + (open?.width ?? 0)).toBeLessThanOrEqual(360)
  const sizes = `[...document.querySelectorAll('input:not([type=checkbox]), textarea, select')].map((one) => parseFloat(getComputedStyle(one).fontSize))`
  expect(Math.min(...(await page.evaluate<number[]>(sizes)))).toBeGreaterThanOrEqual(16)
  await page.goto(`${site.url}/console/usage`)
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  // This service sells no plans.
  await page.getByText('Chats', { exact: true }).last().waitFor()
  expect(await page.getByRole('link', { name: 'Plans that allow more chats' }).count()).toBe(0)
  await page.goto(`${site.url}/console/chat`)
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
})

test('a message is written and sent with the keyboard alone', async () => {
  site.model.reply({ text: '## By **keyboard.**' })
  const { page } = await site.signedIn()
  await page.keyboard.type('Hello')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('there')
  await page.keyboard.press('Enter')
  await page.locator('.markdown', { hasText: 'By keyboard.' }).waitFor()
  await page
    .getByRole('status')
    .filter({ hasText: 'The answer is complete. By keyboard.' })
    .waitFor({ state: 'attached' })
  await page.reload()
  await page.locator('.markdown', { hasText: 'By keyboard.' }).waitFor()
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement?.tagName')).not.toBe('BODY')
})
