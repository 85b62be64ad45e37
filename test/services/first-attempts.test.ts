import { describe, expect, it } from 'vitest'
import { createFirstAttempts } from '../../services/runs/first-attempts.ts'
import { runAttempt } from './run-attempt.ts'

function firstAttempts() {
  let time = 0
  const attempts = createFirstAttempts({ taskTimeoutMs: 2000, clock: () => time })
  return {
    ...attempts,
    pass: (ms: number) => {
      time += ms
    },
  }
}

describe('first attempts', () => {
  it('hand a run over once', () => {
    const { offer, take } = firstAttempts()
    offer(runAttempt('a'))
    expect(take('a')?.run._id).toBe('a')
    expect(take('a')).toBeUndefined()
  })

  it('hand nothing over after the task timeout, when another process may have the task', () => {
    const { offer, take, pass } = firstAttempts()
    const validMs = offer(runAttempt('a'))
    pass(validMs)
    expect(take('a')).toBeUndefined()
  })

  it('hand nothing over after it was withdrawn', () => {
    const { offer, take, withdraw } = firstAttempts()
    offer(runAttempt('a'))
    withdraw('a')
    expect(take('a')).toBeUndefined()
  })

  it('keep the configured task timeout while starts are quick', () => {
    const { offer, noteStarted, pass } = firstAttempts()
    for (const id of ['a', 'b', 'c']) {
      expect(offer(runAttempt(id))).toBe(2000)
      pass(100)
      noteStarted(id)
    }
  })

  it('prolong the task timeout after a slow start, and for ten seconds only', () => {
    const { offer, noteStarted, pass } = firstAttempts()
    offer(runAttempt('a'))
    pass(1000)
    noteStarted('a')
    pass(9999)
    expect(offer(runAttempt('b'))).toBe(4000)
    noteStarted('b')
    pass(10_001)
    expect(offer(runAttempt('c'))).toBe(2000)
  })

  it('prolong the task timeout when many runs start at once, up to ten times', () => {
    const { offer } = firstAttempts()
    const timeouts = Array.from({ length: 200 }, (_, index) => offer(runAttempt(`run ${index}`)))
    expect(timeouts[7]).toBe(2000)
    expect(timeouts[50]).toBe(50 * 50 * 4)
    expect(timeouts[199]).toBe(20_000)
  })
})
