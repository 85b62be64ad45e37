import { describe, expect, it, vi } from 'vitest'
import { createStepSlots } from '../../services/runs/step-slots.ts'
import { useFakeTimers } from '../support/fake-timers.ts'

/** Slots whose runs are named `<user>-<number>`; `called` lists the runs whose workflows were told of a free slot. */
function slots(count: number, { isRunning = true, isOpen = true } = {}) {
  const called: string[] = []
  const ended: string[] = []
  const runs = {
    findOne: ({ _id: id }: { _id: string }) => ({ lean: async () => ({ user_id: id.split('-')[0], thread_id: id }) }),
    exists: async ({ _id }: { _id: string }) => (isOpen ? { _id } : null),
  }
  const workflows = {
    signal: async (_contract: unknown, { threadId }: { threadId: string }) => {
      called.push(threadId)
      return isRunning
    },
  }
  const { inSlot } = createStepSlots(
    // Only what the slots use.
    {
      collections: { runs } as never,
      workflows: workflows as never,
      onError: (error) => expect.unreachable(String(error)),
    },
    count,
  )
  return {
    called,
    ended,
    /** Executes a step that ends when `end` is called. */
    step(runId: string, signal = new AbortController().signal) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const begun = vi.fn<() => void>()
      const result = inSlot({ _id: runId, thread_id: runId }, signal, async () => {
        begun()
        await promise
        ended.push(runId)
        return 'done'
      })
      return { result, begun, end: resolve }
    },
  }
}

describe('the slots of model steps', () => {
  useFakeTimers()

  it('let a step that waits leave after a second; it keeps its place, and its workflow is told of its turn', async () => {
    const { step, called } = slots(1)
    const first = step('a-1')
    const queued = ['a-2', 'a-3', 'b-1'].map((runId) => step(runId))
    await vi.advanceTimersByTimeAsync(1000)
    for (const { result, begun } of queued) {
      expect(await result).toEqual({ next: 'queued', checkAfterMs: 5000 })
      expect(begun).not.toHaveBeenCalled()
    }
    first.end()
    await first.result
    await vi.advanceTimersByTimeAsync(0)
    expect(called).toEqual(['a-2'])
    // The slot is kept: another step does not get it.
    const other = step('c-1')
    await vi.advanceTimersByTimeAsync(100)
    expect(other.begun).not.toHaveBeenCalled()
    const second = step('a-2')
    await vi.advanceTimersByTimeAsync(0)
    expect(second.begun).toHaveBeenCalledOnce()
    second.end()
    expect(await second.result).toBe('done')
    await vi.advanceTimersByTimeAsync(0)
    // Users take turns.
    expect(called).toEqual(['a-2', 'b-1'])
  })

  it('pass a slot on at once when the run has ended meanwhile: its thread may execute another one', async () => {
    const { step, called } = slots(1, { isOpen: false })
    const first = step('a-1')
    const ended = step('a-2')
    await vi.advanceTimersByTimeAsync(1000)
    await ended.result
    first.end()
    await vi.advanceTimersByTimeAsync(0)
    expect(called).toEqual([])
    const next = step('b-1')
    await vi.advanceTimersByTimeAsync(0)
    expect(next.begun).toHaveBeenCalledOnce()
  })

  it('pass a slot on when the step does not come, or its workflow has ended', async () => {
    for (const isRunning of [true, false]) {
      const { step, called } = slots(1, { isRunning })
      const first = step('a-1')
      const gone = step('a-2')
      await vi.advanceTimersByTimeAsync(1000)
      await gone.result
      first.end()
      await vi.advanceTimersByTimeAsync(isRunning ? 20_000 : 0)
      expect(called).toEqual(['a-2'])
      const next = step('b-1')
      await vi.advanceTimersByTimeAsync(0)
      expect(next.begun).toHaveBeenCalledOnce()
    }
  })

  it('send a step that looks too early away, at once and to the same place', async () => {
    const { step, called } = slots(1)
    const first = step('a-1')
    const queued = [step('a-2'), step('a-3')]
    await vi.advanceTimersByTimeAsync(1000)
    for (const { result } of queued) await result
    const early = step('a-2')
    await vi.advanceTimersByTimeAsync(0)
    expect(await early.result).toMatchObject({ next: 'queued' })
    first.end()
    await vi.advanceTimersByTimeAsync(0)
    expect(called).toEqual(['a-2'])
  })

  it('forget a waiting step that is cancelled', async () => {
    const { step, called, ended } = slots(1)
    const first = step('a-1')
    const cancelled = new AbortController()
    const impatient = step('a-2', cancelled.signal)
    const patient = step('a-3')
    await vi.advanceTimersByTimeAsync(500)
    cancelled.abort(new Error('cancelled'))
    await expect(impatient.result).rejects.toThrow('cancelled')
    patient.end()
    first.end()
    expect(await patient.result).toBe('done')
    expect(ended).toEqual(['a-1', 'a-3'])
    expect(called).toEqual([])
  })

  it('ask the workflows of a long line to look again less often', async () => {
    const { step } = slots(1)
    step('a-0')
    const queued = Array.from({ length: 400 }, (_, index) => step(`a-${index + 1}`))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await queued.at(-1)?.result).toEqual({ next: 'queued', checkAfterMs: 80_000 })
  })
})
