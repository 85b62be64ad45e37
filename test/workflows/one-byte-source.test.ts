import { describe, expect, it } from 'vitest'
import { oneByteSource } from '../../worker/one-byte-source.ts'
import { workflowBundle } from '../../worker/workflow-bundle.ts'

describe('code of one byte a character', () => {
  it.each([
    '"…"',
    "'— 😀 ﬁ'",
    '`“1” 😀`',
    '/^[—…]$/.test("…")',
    '/^[😀-😎]$/u.test("😃")',
    '"\\\\…"',
    '"\\…"',
    '"é\\u2026"',
  ])('means the same: %s', (code) => {
    expect(evaluate(oneByteSource(code))).toEqual(evaluate(code))
  })

  it('has no character beyond Latin-1, in comments neither', () => {
    expect(oneByteSource('/* “é” 😀 */')).toBe('/* \\u201cé\\u201d \\ud83d\\ude00 */')
  })

  it('is that of the workflows', async () => {
    const { code } = await workflowBundle()
    expect(/[^\0-\u00FF]/.exec(code)).toBeNull()
  })
})

function evaluate(code: string): unknown {
  // oxlint-disable-next-line no-eval
  return (0, eval)(code)
}
