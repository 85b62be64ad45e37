import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { look, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

/** By half a window; runs in the browser. */
const scrollOn = `(async () => {
  const before = scrollY
  scrollBy(0, innerHeight / 2)
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
  return scrollY === before ? 'end' : 'more'
})()`

test('/docs shows the operations, without preflights and aliases', async () => {
  const page = await site.newPage()
  await page.goto(`${site.url}/docs`)
  await page.locator('.opblock-summary-path').first().waitFor()
  // The page shows only the operations near the place to which it is scrolled.
  const shown = new Map<string, string>()
  for (let isEnd = false; !isEnd;) {
    const operations = await page.evaluate<[path: string, name: string][]>(
      `[...document.querySelectorAll('.opblock')].map((one) => [
        (one.querySelector('.opblock-summary-path')?.textContent ?? '').replaceAll('\\u200b', ''),
        one.className,
      ])`,
    )
    for (const [path, name] of operations) shown.set(path, name)
    isEnd = (await page.evaluate(scrollOn)) === 'end'
  }
  const paths = [...shown.keys()]
  expect(paths.length).toBeGreaterThan(100)
  expect(paths).toContain('/public/compat/v1/chat/completions')
  expect(paths.filter((path) => path.startsWith('/public/v1/'))).toEqual([])
  expect([...shown.values()].filter((name) => name.includes('opblock-options'))).toEqual([])
})

test('/docs has the typeface and the colours of the console, light and dark', async () => {
  const page = await site.newPage()
  const looks = `(() => {
    const [body, group, path] = ['body', '.opblock-tag', '.opblock-summary-path'].map((name) =>
      getComputedStyle(document.querySelector(name)))
    const face = ({ fontFamily }) => fontFamily.split(',')[0]
    return [body.backgroundColor, face(body), face(group), face(path), path.color]
  })()`
  await page.goto(`${site.url}/docs`)
  await page.locator('.opblock-summary-path').first().waitFor()
  const face = '"Figtree Variable"'
  for (const [colorScheme, ground, ink] of [
    ['light', 'rgb(252, 252, 250)', 'rgb(29, 31, 28)'],
    ['dark', 'rgb(23, 25, 22)', 'rgb(233, 235, 230)'],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await expect.poll(() => page.evaluate(looks)).toEqual([ground, face, face, 'ui-monospace', ink])
    await look(page, `docs-${colorScheme}`)
  }
  expect(await page.evaluate(`document.fonts.check('14px "Figtree Variable"')`)).toBe(true)
  // What was chosen in the console holds here, too.
  await page.evaluate(`localStorage.setItem('assistant-platform.theme', 'light')`)
  await page.reload()
  await expect.poll(() => page.evaluate(`document.documentElement.dataset.theme`)).toBe('light')
})

test('/redoc has the typeface and the colours of the console, and follows what is chosen there', async () => {
  const page = await site.newPage()
  const looks = `(() => {
    const styles = ['body', '.menu-content', '.api-content h1', '.api-content'].map((name) => {
      const found = document.querySelector(name)
      return found && getComputedStyle(found)
    })
    const [body, menu, title, content] = styles
    return [body?.backgroundColor, menu?.backgroundColor, title?.color, content && content.fontFamily.split(',')[0]]
  })()`
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`${site.url}/redoc`)
  const light = ['rgb(252, 252, 250)', 'rgb(243, 243, 239)', 'rgb(29, 31, 28)', '"Figtree Variable"']
  const dark = ['rgb(23, 25, 22)', 'rgb(17, 19, 16)', 'rgb(233, 235, 230)', '"Figtree Variable"']
  const shows = async (expected: string[]) =>
    expect.poll(() => page.evaluate(looks).catch(() => []), { timeout: 60_000 }).toEqual(expected)
  await shows(light)
  await page.goto(`${site.url}/redoc#operation/projects.create`)
  await page.getByRole('heading', { name: 'Request samples' }).first().waitFor()
  await look(page, 'redoc-operation-light')
  // Chosen in another tab of the browser.
  const other = await page.context().newPage()
  await other.goto(`${site.url}/icon.svg`)
  await other.evaluate(`localStorage.setItem('assistant-platform.theme', 'dark')`)
  await other.close()
  await shows(dark)
  await page.goto(`${site.url}/redoc#operation/projects.create`)
  await page.getByRole('heading', { name: 'Request samples' }).first().waitFor()
  // Redoc has fixed colours for some parts, which a dark page would hide.
  expect(await page.evaluate(`getComputedStyle(document.querySelector('#redoc h5')).color`)).toBe('rgb(164, 170, 160)')
  await look(page, 'redoc-operation-dark')
  await page.setViewportSize({ width: 390, height: 844 })
  await look(page, 'redoc-390-dark')
  // Redoc asks its maker's site for a mark, which the policy of the page refuses.
  site.problems.splice(0, Infinity, ...site.problems.filter((problem) => !problem.includes('cdn.redoc.ly')))
})
