import { expect, test } from 'vitest'
import { useStarted } from '../support/use-started.ts'
import { look, say, startConsole } from './support.ts'

const site = useStarted(() => startConsole())

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

test('formulas are set in a type face of ours, which is loaded with the first of them', async () => {
  const { page } = await site.signedIn()
  const loaded: string[] = []
  page.on('response', (response) => {
    const name = /math[a-z-]*-[^/]+\.woff2$/.exec(response.url())?.[0]
    if (name !== undefined) loaded.push(name)
  })
  site.model.reply({ text: 'No formula at all.' })
  await say(page, 'Hello')
  await page.getByText('No formula at all.', { exact: true }).waitFor()
  expect(loaded).toEqual([])
  const text = [
    String.raw`\[ \int_{-\infty}^{\infty} e^{-x^2}\,dx = \sqrt{\pi}, \qquad \left(\sum_{k=1}^{n} a_k b_k\right)^2 \le \left(\sum_{k=1}^{n} a_k^2\right)\left(\sum_{k=1}^{n} b_k^2\right) \]`,
    String.raw`\[ A = \begin{pmatrix} 1 & \frac{1}{2} \\ 0 & \sqrt[3]{7} \end{pmatrix}, \qquad \overbrace{x + \dots + x}^{n} = nx, \qquad f \colon \mathbb{R}^\mathbf{d2} \to \mathcal{H} \]`,
    String.raw`\[ \overline{AB} + \underline{CD} = \widehat{XYZ} \]`,
  ].join('\n\n')
  site.model.reply({ text })
  await say(page, 'Formulas')
  await page.locator('math').nth(2).waitFor()
  await expect.poll(() => loaded.length).toBe(1)
  expect(await page.evaluate(`document.fonts.check('16px "Answer Math"', '\u222b')`)).toBe(true)
  // Browsers know no styles of letters: Unicode has the letters.
  expect(await page.locator('math').nth(1).locator('mrow').first().textContent()).toMatch(/ℝ𝐝𝟐?.*→ℋ/u)
  // A line is as long as what it stands over.
  const lines = await page
    .locator('math .line-above, math .line-below')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width))
  expect(lines.every((width) => width > 20) && lines.length).toBe(2)
  // A sign that stretches is as high as what it encloses: that needs the tables of the face.
  const heights = await page
    .locator('math mtable')
    .first()
    .evaluate((table) => {
      const fence = table.parentElement?.querySelector('mo')
      return [fence?.getBoundingClientRect().height ?? 0, table.getBoundingClientRect().height]
    })
  expect(heights[0]).toBeGreaterThan((heights[1] ?? 0) * 0.8)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await look(page, `formulas-${width}-${colorScheme}`)
    }
  }
})
