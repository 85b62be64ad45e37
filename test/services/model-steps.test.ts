import { describe, expect, it, vi } from 'vitest'
import type { StepInput, StepResult } from '../../domain/contracts/thread.ts'
import { createModelSteps } from '../../services/engine/model-steps.ts'
import { type StepHold, SupersededError } from '../../services/engine/run-writer.ts'
import { createFirstAttempts } from '../../services/runs/first-attempts.ts'
import { runAttempt } from './run-attempt.ts'
import { useFakeTimers } from '../support/fake-timers.ts'

const validMs = 2000

/** Model steps whose executions are listed in `executions`; `free` is the number of free slots. */
function modelSteps() {
  const firstAttempts = createFirstAttempts({ taskTimeoutMs: validMs })
  const slots = { free: 1 }
  const executions: {
    input: StepInput
    signal: AbortSignal
    hold: StepHold | undefined
    end(result?: Error): void
  }[] = []
  const tryAcquire = () => {
    if (slots.free === 0) return undefined
    slots.free -= 1
    return () => {
      slots.free += 1
    }
  }
  const steps = createModelSteps({
    firstAttempts,
    slots: { tryAcquire, inSlot: async (_runId, _options, work) => work() },
    modelStep(input, { signal, hold }) {
      firstAttempts.take(input.runId)
      const { promise, resolve, reject } = Promise.withResolvers<StepResult>()
      executions.push({ input, signal, hold, end: (error) => (error ? reject(error) : resolve({ next: 'done' })) })
      signal.addEventListener('abort', () => reject(signal.reason))
      return promise
    },
  })
  return {
    slots,
    executions,
    offer: () => firstAttempts.offer(runAttempt('a')),
    begin: () => steps.beginFirst('a', validMs),
    accept: () => steps.acceptFirst('a'),
    confirm: () => steps.confirmFirst('a'),
    drop: () => steps.dropFirst('a'),
    beginNext: (step: number) => steps.beginNext({ runId: 'a', step }),
    execute: (step = 0, signal = new AbortController().signal) =>
      steps.execute({ runId: 'a', step }, { signal, mayLeave: true }),
  }
}

describe('model steps', () => {
  useFakeTimers()

  it('execute the first step once: the workflow joins the one that has begun', async () => {
    const { offer, begin, confirm, execute, executions, slots } = modelSteps()
    offer()
    begin()
    begin()
    expect(slots.free).toBe(0)
    confirm()
    const result = execute()
    expect(executions).toHaveLength(1)
    executions[0]?.end()
    expect(await result).toEqual({ next: 'done' })
    expect(slots.free).toBe(1)
    // A repetition is an attempt of its own.
    void execute()
    expect(executions).toHaveLength(2)
  })

  it('tell the workflow that joins of a failure before', async () => {
    const { offer, begin, execute, executions } = modelSteps()
    offer()
    begin()
    executions[0]?.end(new Error('no answer'))
    await vi.advanceTimersByTimeAsync(100)
    await expect(execute()).rejects.toThrow('no answer')
  })

  it('pass the cancellation of the workflow on', async () => {
    const { offer, begin, execute, executions } = modelSteps()
    offer()
    begin()
    const cancellation = new AbortController()
    const result = execute(0, cancellation.signal)
    cancellation.abort(new Error('cancelled'))
    await expect(result).rejects.toThrow('cancelled')
    expect(executions[0]?.signal.aborted).toBe(true)
  })

  it('hold the first step back until its run is accepted and confirmed', async () => {
    const { offer, begin, accept, confirm, drop, execute, executions } = modelSteps()
    offer()
    begin()
    const accepted = vi.fn<() => void>()
    const confirmed = vi.fn<() => void>()
    void executions[0]?.hold?.accepted.then(accepted)
    void executions[0]?.hold?.confirmed.then(confirmed)
    void execute()
    await vi.advanceTimersByTimeAsync(2 * validMs)
    expect(accepted).not.toHaveBeenCalled()
    expect(executions[0]?.signal.aborted).toBe(false)
    accept()
    await vi.advanceTimersByTimeAsync(0)
    expect(accepted).toHaveBeenCalled()
    expect(confirmed).not.toHaveBeenCalled()
    confirm()
    await vi.advanceTimersByTimeAsync(0)
    expect(confirmed).toHaveBeenCalled()
    // Confirmed and asked for: a repetition is an attempt of its own, and it cannot be dropped any more.
    void execute()
    expect(executions).toHaveLength(2)
    expect(executions[1]?.hold).toBeUndefined()
    drop()
    expect(executions[0]?.signal.aborted).toBe(false)
  })

  it('execute a first step anew that was dropped, before and after the workflow asked for it', async () => {
    for (const [isAskedFor, isAccepted] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ]) {
      const { offer, begin, accept, drop, execute, executions, slots } = modelSteps()
      offer()
      begin()
      if (isAccepted) accept()
      const early = isAskedFor ? execute() : undefined
      drop()
      await vi.advanceTimersByTimeAsync(0)
      const result = early ?? execute()
      await vi.advanceTimersByTimeAsync(0)
      await expect(executions[0]?.hold?.confirmed).rejects.toThrow(SupersededError)
      expect(executions[0]?.signal.aborted).toBe(true)
      expect(executions).toHaveLength(2)
      executions[1]?.end()
      expect(await result).toEqual({ next: 'done' })
      expect(slots.free).toBe(1)
    }
  })

  it('execute a further step once that has begun after its tools', async () => {
    const { beginNext, execute, executions } = modelSteps()
    beginNext(2)
    await expect(executions[0]?.hold?.confirmed).resolves.toBeUndefined()
    const others = execute(1)
    const result = execute(2)
    expect(executions.map(({ input }) => input.step)).toEqual([2, 1])
    for (const { end } of executions) end()
    expect(await Promise.all([others, result])).toEqual([{ next: 'done' }, { next: 'done' }])
    // The workflow may never ask, because its run was ended.
    beginNext(3)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(executions[2]?.signal.aborted).toBe(true)
  })

  it('begin nothing when the workflow was quicker, or without a free slot', async () => {
    const quicker = modelSteps()
    quicker.offer()
    void quicker.execute()
    quicker.begin()
    expect(quicker.executions).toHaveLength(1)

    const full = modelSteps()
    full.slots.free = 0
    full.offer()
    full.begin()
    expect(full.executions).toEqual([])
    void full.execute()
    expect(full.executions).toHaveLength(1)
  })

  it('stop a first step that no workflow asks for while its task is valid', async () => {
    const { offer, begin, execute, executions, slots } = modelSteps()
    offer()
    begin()
    await vi.advanceTimersByTimeAsync(validMs)
    expect(executions[0]?.signal.aborted).toBe(true)
    expect(slots.free).toBe(1)
    void execute()
    expect(executions).toHaveLength(2)
  })
})
