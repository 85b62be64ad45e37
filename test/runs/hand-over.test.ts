import { describe, expect, it, vi } from 'vitest'
import { type HandOverDeps, createHandOver } from '../../services/runs/hand-over.ts'
import { useFakeTimers } from '../support/fake-timers.ts'
import { offeredRun } from './offered-run.ts'

/**
 * A thread whose workflow closes after so many starts; `openRuns` says for each look whether another run of the thread
 * is open.
 */
function thread({
  closesAfter,
  openRuns = [],
  endsWhenAsked = 0,
  executes,
}: {
  closesAfter: number
  openRuns?: boolean[]
  endsWhenAsked?: number
  executes?: string
}) {
  const calls: string[] = []
  const handOver = createHandOver({
    collections: {
      runs: {
        exists: async () => (openRuns.shift() ? { _id: 'another' } : null),
      },
    },
    workflows: {
      async startNew() {
        calls.push('start')
        return calls.length > closesAfter ? 'eager' : 'already_running'
      },
      async signalWithStart() {
        calls.push('signal')
      },
      async state() {
        calls.push('state')
        return { status: 'running', runId: executes } as const
      },
      async updateWithStart() {
        calls.push('update')
        if (endsWhenAsked-- > 0) return { status: 'not_running' } as never
        return { status: 'answered', answer: true } as never
      },
    },
    settings: { runMaxMinutes: 1 },
  } as unknown as HandOverDeps)
  return { calls, enqueue: (strategy: 'enqueue' | 'reject') => handOver.enqueue(offeredRun('a').run, strategy) }
}

describe('a run whose thread has a workflow', () => {
  useFakeTimers()

  it('starts it anew when the last run has ended and the workflow is about to', async () => {
    for (const strategy of ['enqueue', 'reject'] as const) {
      const { calls, enqueue } = thread({ closesAfter: 2 })
      const enqueued = enqueue(strategy)
      await vi.advanceTimersByTimeAsync(1000)
      expect(await enqueued).toBe('eager')
      expect(calls).toEqual(['start', 'start', 'start'])
    }
  })

  it('is handed to the workflow at once while another run is open', async () => {
    const { calls, enqueue } = thread({ closesAfter: Infinity, openRuns: [true] })
    expect(await enqueue('enqueue')).toBe('enqueued')
    expect(calls).toEqual(['start', 'signal'])
  })

  it('is handed to the workflow when another run was begun meanwhile', async () => {
    const { calls, enqueue } = thread({ closesAfter: Infinity, openRuns: [false, true] })
    const enqueued = enqueue('enqueue')
    await vi.advanceTimersByTimeAsync(1000)
    expect(await enqueued).toBe('enqueued')
    expect(calls).toEqual(['start', 'start', 'signal'])
  })

  it('is offered anew with `reject` to a workflow that ends while it is asked', async () => {
    const { calls, enqueue } = thread({ closesAfter: Infinity, endsWhenAsked: 2 })
    const enqueued = enqueue('reject')
    await vi.advanceTimersByTimeAsync(1000)
    expect(await enqueued).toBe('enqueued')
    expect(calls.slice(7)).toEqual(['state', 'update', 'update', 'update'])
  })

  it('is refused with `reject` without a word to the workflow that executes another open run', async () => {
    // The first look finds the other run, which was stored after this one; the second, before it, none.
    const other = { closesAfter: Infinity, openRuns: [true, false, true], executes: 'b' }
    const { calls, enqueue } = thread(other)
    expect(await enqueue('reject')).toBe('refused')
    expect(calls).toEqual(['start', 'state'])
    // A run that has ended, or this one, decides nothing.
    for (const executes of ['b', 'a']) {
      const asked = thread({ closesAfter: Infinity, openRuns: [true], executes })
      expect(await asked.enqueue('reject')).toBe('enqueued')
      expect(asked.calls).toEqual(['start', 'state', 'update'])
    }
  })

  it('is handed to a workflow that does not end', async () => {
    const { calls, enqueue } = thread({ closesAfter: Infinity })
    const enqueued = enqueue('enqueue')
    await vi.advanceTimersByTimeAsync(1000)
    expect(await enqueued).toBe('enqueued')
    expect(calls).toEqual([...Array.from({ length: 7 }, () => 'start'), 'signal'])
  })
})
