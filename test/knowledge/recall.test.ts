import { expect, it } from 'vitest'
import { measureRecall } from '../../bench/knowledge/recall.ts'

it('finds nine of ten answers in the first five passages, even with the demo embeddings', async () => {
  const { questions, firstFive } = await measureRecall()
  expect(questions).toBeGreaterThanOrEqual(50)
  expect(firstFive).toBeGreaterThanOrEqual(0.9)
})
