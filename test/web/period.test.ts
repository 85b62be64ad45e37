import { expect, test } from 'vitest'
import { periodOf } from '../../web/src/lib/period.ts'

test.each([
  ['2026-11-25T00:00:00', 'today'],
  ['2026-11-24T23:59:00', 'yesterday'],
  ['2026-11-23T12:00:00', 'week'],
  ['2026-11-01T12:00:00', 'month'],
  ['2026-09-01T12:00:00', 'older'],
])('a chat of %s is of %s', (at, period) => {
  expect(periodOf(new Date(at).toISOString(), new Date('2026-11-25T12:00:00'))).toBe(period)
})
