import { afterAll, describe, expect, it } from 'vitest'
import { countTokens } from '../../domain/chunking/count-tokens.ts'
import { createTokenCounter } from '../../infra/tokens/token-counter.ts'
import { slowText } from '../support/slow-text.ts'

const worst = slowText(400_000)

describe('the thread that counts tokens', () => {
  const counter = createTokenCounter()
  afterAll(() => counter.close())
  const signal = new AbortController().signal
  const count = (texts: string[], limit: number, userId = 'me', by = signal) =>
    counter.count(texts, limit, { userId, signal: by })

  it('counts each text, and stops when the limit is exceeded', async () => {
    const text = 'Some words, and more of them. '
    expect(await count([text, '', text], 1000)).toEqual([countTokens(text), 0, countTokens(text)])
    const stopped = await count([text.repeat(10), text.repeat(10_000), text], 200)
    expect(stopped).toHaveLength(2)
    expect(stopped[1]).toBeLessThan(300)
  })

  it('takes turns between users, and does not block the main thread', async () => {
    let isWorstDone = false
    const stop = new AbortController()
    const worstJobs = Promise.allSettled(
      Array.from({ length: 20 }, () => count([worst], 1e9, 'other', stop.signal)),
    ).then(() => (isWorstDone = true))
    let longestMs = 0
    let last = performance.now()
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last)
      last = performance.now()
    }, 5)
    expect(await count(['My own words.'], 1000)).toEqual([countTokens('My own words.')])
    expect(isWorstDone).toBe(false)
    clearInterval(timer)
    // Counted here, they would take a quarter of a minute.
    expect(longestMs).toBeLessThan(5000)
    stop.abort(new Error('enough'))
    await worstJobs
    expect(await count(['And again.'], 1000, 'other')).toEqual([countTokens('And again.')])
  })

  it('drops texts for which nobody waits any more', async () => {
    const stop = new AbortController()
    const counting = count([worst], 1e9, 'me', stop.signal)
    stop.abort(new Error('cancelled'))
    await expect(counting).rejects.toThrow('cancelled')
    await expect(count([worst], 1e9, 'me', stop.signal)).rejects.toThrow('cancelled')
  })

  it('restarts after its end', async () => {
    const other = createTokenCounter()
    const counting = other.count([worst], 1e9, { userId: 'me', signal })
    await other.close()
    await expect(counting).rejects.toThrow('has ended')
    expect(await other.count(['x'], 10, { userId: 'me', signal })).toEqual([1])
    await other.close()
  })
})
