import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Console, startConsole } from './support.ts'

let site: Console
beforeAll(async () => {
  site = await startConsole()
})
afterAll(() => site.close())

test('/docs shows the operations, without preflights and aliases', async () => {
  const page = await site.newPage()
  await page.goto(`${site.url}/docs`)
  await page.locator('.opblock-summary-path').first().waitFor()
  const pathsShown = async () => {
    const shown = await page.locator('.opblock-summary-path').evaluateAll((all) => all.map((one) => one.textContent))
    return shown.map((text) => String(text).replaceAll('\u200b', ''))
  }
  // The page shows more operations when it is scrolled.
  const scroll = async () => {
    await page.mouse.wheel(0, 20_000)
    return pathsShown()
  }
  await expect.poll(scroll, { timeout: 50_000 }).toContain('/public/compat/v1/chat/completions')
  const paths = await pathsShown()
  expect(paths.filter((path) => path.startsWith('/public/v1/'))).toEqual([])
  expect(await page.locator('.opblock-options').count()).toBe(0)
})
