import { describe, expect, it } from 'vitest'
import { type FirstAttempt, createFirstAttempts } from '../../services/runs/first-attempts.ts'

const now = new Date(0)

function attempt(id: string): FirstAttempt {
  const common = { user_id: 'user', project_id: 'project', public: false, created_at: now }
  return {
    run: {
      _id: id,
      ...common,
      thread_id: 'thread',
      assistant_id: 'assistant',
      status: 'pending',
      input_json: '[]',
      overrides: {},
      fence: 1,
    },
    assistant: {
      _id: 'assistant',
      ...common,
      name: 'A',
      access_mode: 'authenticated',
      allowed_origins: [],
      updated_at: now,
    },
    thread: { _id: 'thread', ...common, name: 'T', metadata_json: '{}', last_outcome: 'none', updated_at: now },
  }
}

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
    offer(attempt('a'))
    expect(take('a')?.run._id).toBe('a')
    expect(take('a')).toBeUndefined()
  })

  it('hand nothing over after the task timeout, when another process may have the task', () => {
    const { offer, take, pass } = firstAttempts()
    const validMs = offer(attempt('a'))
    pass(validMs)
    expect(take('a')).toBeUndefined()
  })

  it('hand nothing over after it was withdrawn', () => {
    const { offer, take, withdraw } = firstAttempts()
    offer(attempt('a'))
    withdraw('a')
    expect(take('a')).toBeUndefined()
  })

  it('keep the configured task timeout while starts are quick', () => {
    const { offer, take, pass } = firstAttempts()
    for (const id of ['a', 'b', 'c']) {
      expect(offer(attempt(id))).toBe(2000)
      pass(100)
      take(id)
    }
  })

  it('prolong the task timeout after a slow start, and for ten seconds only', () => {
    const { offer, take, pass } = firstAttempts()
    offer(attempt('a'))
    pass(1000)
    take('a')
    pass(9999)
    expect(offer(attempt('b'))).toBe(4000)
    take('b')
    pass(10_001)
    expect(offer(attempt('c'))).toBe(2000)
  })

  it('prolong the task timeout when many runs start at once, up to ten times', () => {
    const { offer } = firstAttempts()
    const timeouts = Array.from({ length: 200 }, (_, index) => offer(attempt(`run ${index}`)))
    expect(timeouts[7]).toBe(2000)
    expect(timeouts[50]).toBe(50 * 50 * 4)
    expect(timeouts[199]).toBe(20_000)
  })
})
