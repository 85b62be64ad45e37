import { expect, it } from 'vitest'
import { addAll } from '../../domain/add-all.ts'
import { largestOf, smallestOf } from '../../domain/extremes.ts'
import { termsOf } from '../../domain/search/terms.ts'

const many = 300_000

it('takes lists of any length', () => {
  const numbers = Array.from({ length: many }, (_, index) => index)
  const list = [-1]
  addAll(list, numbers)
  expect(list).toHaveLength(many + 1)
  expect([smallestOf(numbers), largestOf(numbers), largestOf([], 3)]).toEqual([0, many - 1, 3])
})

it('finds the terms of one word of many characters', () => {
  // A long line is read in pieces, and no pair is made across two of them.
  const pieces = (2 * many) / 10_000
  expect(termsOf('漢字'.repeat(many))).toHaveLength(2 * many - pieces)
})
