import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cutText } from '../../domain/cut-text.ts'

it('never cuts a character in half', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'é', '漢', '😀', '👍🏽') }), fc.nat(20), (text, length) => {
      const cut = cutText(text, length)
      expect(text.startsWith(cut)).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(length)
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(length - 1, text.length))
      expect(cut.isWellFormed()).toBe(true)
    }),
  )
  expect(cutText('a😀', 2)).toBe('a')
  expect(cutText('😀', 2)).toBe('😀')
})
