import { describe, expect, it, vi } from 'vitest'
import { kept } from '../../domain/kept.ts'
import { useFakeTimers } from '../support/fake-timers.ts'

/** Counts how often it is asked; an answer takes 100 ms. */
function counter(staleMs?: number) {
  let asked = 0
  let problem: Error | undefined
  const ask = kept(
    async () => {
      asked += 1
      const answer = asked
      await new Promise((resolve) => setTimeout(resolve, 100))
      if (problem) throw problem
      return answer
    },
    500,
    staleMs,
  )
  return {
    ask,
    fail: (error?: Error) => {
      problem = error
    },
    /** Undefined if the caller has to wait. */
    atOnce: async () => {
      const found = vi.fn<(answer: number) => void>()
      ask().then(found, () => undefined)
      await vi.advanceTimersByTimeAsync(0)
      return found.mock.calls[0]?.[0]
    },
  }
}

describe('a kept answer', () => {
  useFakeTimers()

  it('is shared, and asked for anew when its time is over', async () => {
    const { ask, atOnce } = counter()
    const both = [ask(), ask()]
    await vi.advanceTimersByTimeAsync(100)
    expect(await Promise.all(both)).toEqual([1, 1])
    await vi.advanceTimersByTimeAsync(500)
    expect(await atOnce()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await atOnce()).toBeUndefined()
    await vi.advanceTimersByTimeAsync(100)
    expect(await atOnce()).toBe(2)
  })

  it('is returned while the next one is on its way, but not for ever', async () => {
    const { ask, atOnce } = counter(1500)
    void ask()
    await vi.advanceTimersByTimeAsync(100 + 501)
    expect([await atOnce(), await atOnce()]).toEqual([1, 1])
    await vi.advanceTimersByTimeAsync(100)
    expect(await atOnce()).toBe(2)
    await vi.advanceTimersByTimeAsync(2001)
    expect(await atOnce()).toBeUndefined()
    await vi.advanceTimersByTimeAsync(100)
    expect(await atOnce()).toBe(3)
  })

  it('is no failure', async () => {
    const { ask, atOnce, fail } = counter(1500)
    void ask()
    await vi.advanceTimersByTimeAsync(100 + 501)
    fail(new Error('away'))
    expect(await atOnce()).toBe(1)
    await vi.advanceTimersByTimeAsync(100)
    expect(await atOnce()).toBe(1)
    await vi.advanceTimersByTimeAsync(2000)
    const failing = ask()
    failing.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(100)
    await expect(failing).rejects.toThrow('away')
    fail()
    void ask()
    await vi.advanceTimersByTimeAsync(100)
    expect(await atOnce()).toBe(5)
  })
})
