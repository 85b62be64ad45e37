import { describe, expect, it } from 'vitest'
import { rememberCounts } from '../../infra/tokens/token-counter.ts'

const turn = { userId: 'me', signal: new AbortController().signal }

/** A counter for which a token is a character; `counted` lists the texts that it was given. */
function counter() {
  const counted: string[] = []
  const count = rememberCounts(async (texts, limit) => {
    const counts: number[] = []
    for (const text of texts) {
      counted.push(text)
      const left = limit - counts.reduce((sum, tokens) => sum + tokens, 0)
      counts.push(Math.min(text.length, left + 1))
      if (text.length > left) break
    }
    return counts
  })
  return { counted, count: (texts: string[], limit = 1000) => count(texts, limit, turn) }
}

describe('remembered counts', () => {
  it('count each text once, wherever it stands', async () => {
    const { counted, count } = counter()
    expect(await count(['one', 'three'])).toEqual([3, 5])
    expect(await count(['new', 'three', 'newest', 'one', ''])).toEqual([3, 5, 6, 3, 0])
    expect(await count(['', 'new', 'newest'])).toEqual([0, 3, 6])
    expect(counted).toEqual(['one', 'three', 'new', 'newest', ''])
  })

  it('stop at the limit, and do not keep what was counted in part', async () => {
    const { counted, count } = counter()
    await count(['four'])
    expect(await count(['four', 'a long text', 'more'], 6)).toEqual([4, 3])
    expect(await count(['a long text', 'four'])).toEqual([11, 4])
    expect(counted).toEqual(['four', 'a long text', 'a long text'])
    // Known texts count against the limit like others.
    expect(await count(['four', 'a long text', 'unknown'], 10)).toEqual([4, 11])
    expect(counted).toHaveLength(3)
  })

  it('forget what was not needed for longest', async () => {
    const { counted, count } = counter()
    const texts = Array.from({ length: 20_000 }, (_, index) => String(index))
    await count(texts, 1e9)
    await count(['0'])
    await count(['one more'])
    counted.length = 0
    await count(['0', '1', 'one more'])
    expect(counted).toEqual(['1'])
  })

  it('are not asked for a run that was cancelled', async () => {
    const cancelled = rememberCounts(async () => [1])(['known'], 10, { userId: 'me', signal: AbortSignal.abort() })
    await expect(cancelled).rejects.toThrow(/abort/)
  })
})
