import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Console, say, startConsole } from './support.ts'

let site: Console
beforeAll(async () => {
  site = await startConsole()
})
afterAll(() => site.close())

test('formulas are set, prices are not, code names its language, and a wrong formula stays readable', async () => {
  const { page } = await site.signedIn()
  const text = [
    String.raw`The area is \(\pi r^2\), so $A_1 = 3$ costs $5 or $10.`,
    String.raw`\[ \sum_{i=1}^n i = \frac{n(n+1)}{2} \]`,
    String.raw`Wrong: $\frac{1$ and \(\href{javascript:alert(1)}{x}\) and \(\def\a{\a\a}\a\)`,
    '```python\nprint("$x$")\n```',
  ].join('\n\n')
  site.model.reply({ text })
  await say(page, 'Teach me')
  await page.locator('math').nth(2).waitFor()
  const drawn = await page.locator('.markdown math').allTextContents()
  expect(drawn[0]).toContain('π')
  expect(await page.locator('.formula-block math[display="block"]').count()).toBe(1)
  const shown = await page.locator('.markdown').textContent()
  expect(shown).toContain('costs $5 or $10.')
  expect(shown).toContain('print("$x$")')
  expect(shown).toContain(String.raw`\frac{1`)
  expect(await page.locator('.code-language').textContent()).toBe('python')
  expect(await page.locator('.markdown a[href^="javascript"], .markdown math [href]').count()).toBe(0)
  await site.expectAccessible(page, 'formulas')
})
