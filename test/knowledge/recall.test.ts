import { expect, it } from 'vitest'
import { measureRecall } from '../../bench/knowledge/recall.ts'

it('the search finds 90 % of the answers in the first five passages, even with the demo embeddings', async () => {
  const { questions, firstFive } = await measureRecall()
  expect(questions).toBeGreaterThanOrEqual(50)
  expect(firstFive).toBeGreaterThanOrEqual(0.9)
})
