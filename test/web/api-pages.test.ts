import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { startConsole } from './support.ts'

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
