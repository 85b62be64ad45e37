import { describe, expect, it } from 'vitest'
import { termsOf } from '../../domain/search/terms.ts'

describe('the terms of a text for full-text search', () => {
  it.each([
    ['The Ladies’ houses, a glass', ['lady', 'house', 'glass']],
    ['73,500 marks in 1.5 years', ['73500', 'mark', '15', '1', '5', 'year']],
    ['1.234.567 am 28.11.2026', ['1234567', 'am', '28112026', '28', '11', '2026']],
    ['Crème brûlée\u00a0ﬁne', ['creme', 'brulee', 'fine']],
    ['漢字 x', ['漢字', 'x']],
    ['ΟΔΟΣ', ['οδος']],
  ])('%j', (text, terms) => {
    expect(termsOf(text)).toEqual(terms)
  })

  it('are the same whatever the other lines and the spaces of the text are', () => {
    expect(termsOf('Plain\u00a0words, 1.5\nÉté')).toEqual([...termsOf('Plain words, 1.5'), ...termsOf('Été')])
  })
})
