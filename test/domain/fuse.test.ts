import { expect, test } from 'vitest'
import { fuse } from '../../domain/search/fuse.ts'

const list = (scores: Record<string, number>) => Object.entries(scores).map(([id, score]) => ({ id, score }))
const scoreOf = (fused: ReturnType<typeof fuse>, id: string) => fused.find((one) => one.id === id)

test('a text is as good by its words as its share of the best, however long the list is', () => {
  const short = fuse([], list({ best: 20, second: 16 }))
  const long = fuse([], list({ best: 20, second: 16, third: 4, last: 1 }))
  expect(scoreOf(short, 'second')).toMatchObject({ words: 0.8 })
  expect(scoreOf(long, 'second')).toEqual(scoreOf(short, 'second'))
})

test('by meaning it is as good as it lies between the worst and the best', () => {
  const fused = fuse(list({ best: 0.9, middle: 0.85, worst: 0.8 }), [])
  expect(fused.map(({ meaning }) => meaning)).toEqual([1, expect.closeTo(0.55), 0.1])
})

test('what has all words goes before what is about the same', () => {
  const nearest = list({ similar: 0.9, answer: 0.8 })
  expect(fuse(nearest, list({ answer: 30, similar: 6 })).map(({ id }) => id)).toEqual(['answer', 'similar'])
})

test('texts that are all alike by words do not go before the best by meaning', () => {
  const fused = fuse(list({ nearest: 0.9, other: 0.5 }), list({ a: 2, b: 2, c: 2 }))
  expect(fused.map(({ id }) => id)).toEqual(['nearest', 'a', 'b', 'c', 'other'])
})

test('a text that both found twice counts once, and one of one list gets the share of that list', () => {
  const fused = fuse(list({ a: 0.9 }), [...list({ a: 3, b: 1.5 }), ...list({ a: 1 })])
  expect(fused.map(({ id }) => id)).toEqual(['a', 'b'])
  expect(fused[0]?.score).toBeCloseTo(1)
  expect(fused[1]).toEqual({ id: 'b', words: 0.5, score: expect.closeTo(0.275) })
})
