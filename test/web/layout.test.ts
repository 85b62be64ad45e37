import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { languages } from '../../web/src/texts/languages.ts'
import { useStarted } from '../support/use-started.ts'
import { look, startConsole } from './support.ts'

const widths = [390, 1440]

const site = useStarted(() => startConsole())

/** Words of buttons, tabs, labels and headings that are cut, or stand outside of the page. Boxes that scroll may. */
const cutWords = `(() => {
  const named = 'button, summary, label, th, legend, h1, h2, [role=tab], a[class], .badge'
  const cut = []
  const isScrolled = (element) => {
    for (let around = element.parentElement; around; around = around.parentElement)
      if (/auto|scroll/.test(getComputedStyle(around).overflowX) && around !== document.body) return true
    return false
  }
  for (const element of document.querySelectorAll(named)) {
    const box = element.getBoundingClientRect()
    const words = element.textContent.trim()
    if (box.width < 2 || box.height < 2 || words === '' || element.closest('[inert], [hidden], .visually-hidden, .toast')) continue
    if (getComputedStyle(element).visibility === 'hidden') continue
    const parts = [element, ...element.querySelectorAll('*')].filter((part) => part.clientWidth > 1)
    const over = parts.find((part) => part.scrollWidth > part.clientWidth + 1)
    if (over) cut.push(words + ': ' + over.scrollWidth + ' > ' + over.clientWidth)
    else if ((box.right > innerWidth + 1 || box.left < -1) && box.right > 0 && box.left < innerWidth && !isScrolled(element))
      cut.push(words + ': from ' + Math.round(box.left) + ' to ' + Math.round(box.right))
  }
  if (document.documentElement.scrollWidth > innerWidth) cut.push('the page: ' + document.documentElement.scrollWidth)
  return cut
})()`

const frames = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'

/** Ways through the console in one page, which cost a tenth of loading it anew each time. */
function walk(page: Page) {
  const open = new Set<Request>()
  page.on('request', (request) => open.add(request))
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))

  /** Resolves when all that was asked for has come and is drawn. */
  async function settled(): Promise<void> {
    await page.evaluate(frames)
    while (open.size > 0) {
      await Promise.all(Array.from(open, (request) => request.response().then((response) => response?.finished())))
      await page.evaluate(frames)
    }
  }

  return {
    settled,
    /** Opens another page of the console, as a link does. */
    async to(path: string): Promise<void> {
      const before = await page.locator('h1').first().innerText()
      const url = JSON.stringify(`/console/${path}`)
      await page.evaluate(`history.pushState(null, '', ${url}); dispatchEvent(new PopStateEvent('popstate'))`)
      await expect.poll(() => page.locator('h1').first().innerText()).not.toBe(before)
      await settled()
    },
  }
}

async function expectWhole(page: Page, what: string): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 844 })
    // Tabs and tables measure themselves after a change of the size.
    await page.evaluate(frames)
    await look(page, `${what.replaceAll(/\W+/g, '-')}-${width}`)
    expect.soft(await page.evaluate<string[]>(cutWords), `${what} at ${width} px`).toEqual([])
  }
}

test.each(languages)('no button, tab or label is cut in %s, on a phone and on a wide screen', async (language) => {
  const guest = await site.newPage()
  await guest.evaluate((chosen) => localStorage.setItem('assistant-platform.language', chosen), language)
  for (const path of ['login', 'signup', 'forgot-password']) {
    await guest.goto(`${site.url}/${path}`)
    await guest.locator('form').first().waitFor()
    await expectWhole(guest, `${language} ${path}`)
  }
  await guest.goto(`${site.url}/admin/`)
  await guest.locator('input[type=password]').fill(site.service.env['ADMIN_TOKEN'] ?? '')
  await guest.keyboard.press('Enter')
  const operation = walk(guest)
  const pages = guest.locator('nav a[href^="#"]')
  await pages.first().waitFor()
  for (const one of await pages.all()) {
    await guest.setViewportSize({ width: 1440, height: 844 })
    await one.click()
    await operation.settled()
    await expectWhole(guest, `${language} operation ${await one.getAttribute('href')}`)
  }

  const { user, page, assistantId } = await site.signedIn()
  await page.evaluate((chosen) => localStorage.setItem('assistant-platform.language', chosen), language)
  const [project] = await user.get('/projects/')
  await user.post('/threads/', { name: 'Tides', assistant_id: assistantId })
  await user.post('/schedules/', {
    assistant_id: assistantId,
    input: [{ type: 'human', content: 'Tides?' }],
    cron: '30 15 3 7 *',
    timezone: 'UTC',
  })
  const paths = [
    'assistants',
    'projects',
    `projects/${project.project_id}/people`,
    'usage',
    'plans',
    'schedules',
    'memory',
    'data',
    'audit',
    'account',
  ]
  const { to, settled } = walk(page)
  await page.reload()
  await page.locator('h1').first().waitFor()
  await settled()
  await expectWhole(page, `${language} chat`)
  for (const path of paths) {
    await to(path)
    await expectWhole(page, `${language} ${path.replace(project.project_id, '')}`)
  }
  await to(`assistants/${assistantId}`)
  await page.getByRole('tab').last().waitFor()
  for (const [index, tab] of (await page.getByRole('tab').all()).entries()) {
    await tab.click()
    await settled()
    await expectWhole(page, `${language} assistant ${index}`)
  }
})

test('the titles of all pages stand at the same place', async () => {
  const { page, user, assistantId } = await site.signedIn()
  await page.setViewportSize({ width: 1440, height: 900 })
  await user.post('/schedules/', {
    assistant_id: assistantId,
    input: [{ type: 'human', content: 'Hi' }],
    cron: '0 7 1 1 *',
  })
  const places = new Map<string, string>()
  const { to } = walk(page)
  for (const path of ['assistants', 'projects', 'schedules', 'memory', 'usage', 'account', 'data', 'audit', 'plans']) {
    await to(path)
    const title = page.getByRole('heading', { level: 1 })
    await title.waitFor()
    const [box, below] = [await title.boundingBox(), await title.locator('+ p').boundingBox()]
    places.set(path, `${box?.x} ${box?.y} ${below?.y}`)
  }
  expect(new Set(places.values()).size, JSON.stringify([...places])).toBe(1)
})

test('on a phone an operator sees which page is open', async () => {
  const page = await site.newPage()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${site.url}/admin/`)
  await page.locator('input[type=password]').fill(site.service.env['ADMIN_TOKEN'] ?? '')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.evaluate("location.hash = '#cleanup'")
  const current = page.locator('nav [aria-current]')
  await expect.poll(() => current.getAttribute('href')).toBe('#cleanup')
  const box = await current.boundingBox()
  expect(box?.x).toBeGreaterThanOrEqual(0)
  expect((box?.x ?? 999) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
})
