import { describe, expect, it, vi } from 'vitest'
import type { StepResult } from '../../domain/contracts/thread.ts'
import { type LiveRun, createLiveRuns } from '../../services/runs/live-runs.ts'
import type { StepDeps } from '../../services/runs/step-deps.ts'
import { createSteps } from '../../services/runs/steps.ts'
import { useFakeTimers } from '../support/fake-timers.ts'
import { offeredRun } from './offered-run.ts'

const validMs = 2000
const done: StepResult = { next: 'done' }

/** Steps whose executions are listed; `free` is the number of free slots. The record of the run has `fence`. */
function modelSteps() {
  const liveRuns = createLiveRuns({ taskTimeoutMs: validMs })
  const slots = { free: 1 }
  const executions: { live: LiveRun; end(result?: Error): void }[] = []
  let fence = 1
  const { run, assistant, thread } = offeredRun('a')
  const tryAcquire = () => {
    if (slots.free === 0) return undefined
    slots.free -= 1
    return () => {
      slots.free += 1
    }
  }
  const runs = {
    findOneAndUpdate: () => ({ lean: async () => ({ ...run, status: 'running', fence: fence++ }) }),
  }
  const steps = createSteps(
    { collections: { runs }, liveRuns, tracing: { begun: () => {} } } as unknown as StepDeps,
    { tryAcquire, inSlot: async (_runId, _options, work) => work() },
    (_deps, live) => {
      const { promise, resolve, reject } = Promise.withResolvers<StepResult>()
      executions.push({ live, end: (error) => (error ? reject(error) : resolve(done)) })
      live.signal.addEventListener('abort', () => reject(live.signal.reason))
      return promise
    },
  )
  const { live } = liveRuns.offer(run, { assistant, thread })
  return {
    live,
    slots,
    executions,
    begin: () => steps.begin(live),
    execute: (step = 0, signal = new AbortController().signal) =>
      steps.execute({ threadId: run.thread_id, runId: 'a', step }, signal),
    settled: () => vi.advanceTimersByTimeAsync(0),
  }
}

describe('the model steps of a process', () => {
  useFakeTimers()

  it('execute a first step once: the workflow joins the one that has begun', async () => {
    const { begin, execute, executions, slots, live } = modelSteps()
    begin()
    begin()
    expect(slots.free).toBe(0)
    const result = execute()
    expect(executions).toHaveLength(1)
    executions[0]?.end()
    expect(await result).toEqual(done)
    expect(slots.free).toBe(1)
    expect(live.state).toBe('ended')
  })

  it('give the workflow a result, or a failure, from before it asked', async () => {
    for (const failure of [undefined, new Error('no answer')]) {
      const { begin, execute, executions, settled } = modelSteps()
      begin()
      executions[0]?.end(failure)
      await settled()
      const outcome = await execute().catch((error: unknown) => error)
      expect(outcome).toEqual(failure ?? done)
      expect(executions).toHaveLength(1)
    }
  })

  it('pass the cancellation of the workflow on', async () => {
    const { begin, execute, executions } = modelSteps()
    begin()
    const cancellation = new AbortController()
    const result = execute(0, cancellation.signal)
    cancellation.abort(new Error('cancelled'))
    await expect(result).rejects.toThrow('cancelled')
    expect(executions[0]?.live.signal.aborted).toBe(true)
  })

  it('take the run as it was offered if the workflow was quicker, or no slot was free', async () => {
    for (const free of [1, 0]) {
      const { begin, execute, executions, slots, live } = modelSteps()
      slots.free = free
      if (free === 0) begin()
      const result = execute()
      begin()
      expect(executions.map((execution) => execution.live)).toEqual([live])
      executions[0]?.end()
      expect(await result).toEqual(done)
    }
  })

  it('execute a step anew, under the next fence, if its thread has changed meanwhile', async () => {
    for (const way of ['before', 'after', 'without'] as const) {
      const { begin, execute, executions, live, settled } = modelSteps()
      if (way !== 'without') begin()
      let result = way === 'before' ? undefined : execute()
      live.noteParents('changed')
      await settled()
      result ??= execute()
      await settled()
      expect(executions.map((execution) => execution.live.run.fence)).toEqual([1, 2])
      expect(executions[0]?.live.signal.aborted).toBe(true)
      executions[1]?.end()
      expect(await result).toEqual(done)
    }
  })

  it('tell the workflow if the run was taken over or has ended', async () => {
    const { begin, execute, live } = modelSteps()
    begin()
    const result = execute()
    live.apply('supersede')
    await expect(result).rejects.toThrow('taken this run over')
  })

  it('execute a repetition as an attempt of its own, which stops the older one', async () => {
    const { begin, execute, executions, settled } = modelSteps()
    begin()
    const first = execute().catch((error: unknown) => error)
    const second = execute()
    await settled()
    expect(String(await first)).toContain('taken this run over')
    executions[1]?.end()
    expect(await second).toEqual(done)
  })

  it('stop a first step that no workflow asks for while its task is valid', async () => {
    const { begin, executions, slots } = modelSteps()
    begin()
    await vi.advanceTimersByTimeAsync(validMs)
    expect(executions[0]?.live.signal.aborted).toBe(true)
    expect(slots.free).toBe(1)
  })
})
