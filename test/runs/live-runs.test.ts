import { describe, expect, it, vi } from 'vitest'
import { createLiveRuns, createTaskTimeouts } from '../../services/runs/live-runs.ts'
import { useFakeTimers } from '../support/fake-timers.ts'
import { offeredRun } from './offered-run.ts'

const validMs = 2000

function liveRuns() {
  const all = createLiveRuns({ taskTimeoutMs: validMs, clock: Date.now })
  const offer = (id: string) => {
    const { run, ...known } = offeredRun(id)
    return all.offer(run, known)
  }
  const pause = (id: string) => {
    const { run, assistant } = offeredRun(id)
    const live = all.claimed(run, { step: 0, isFresh: true })
    live.next = { assistant, thread: undefined, usages: [] }
    live.apply('pause')
    return live
  }
  return { ...all, offer, pause }
}

describe('the runs of a process', () => {
  useFakeTimers()

  it('keep an offered run until its first task may be given to another process', async () => {
    const { offer, get } = liveRuns()
    const { live, taskTimeoutMs } = offer('a')
    expect(taskTimeoutMs).toBe(validMs)
    expect(get('a')).toBe(live)
    live.apply('begin')
    await vi.advanceTimersByTimeAsync(validMs - 1)
    expect(live.state).toBe('begun')
    await vi.advanceTimersByTimeAsync(1)
    expect(live).toMatchObject({ state: 'dropped', isGivenUp: true })
    expect(get('a')).toBeUndefined()
  })

  it('keep a run as long as its workflow waits for a step', async () => {
    const { offer, get } = liveRuns()
    const { live } = offer('a')
    live.apply('ask')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(get('a')).toBe(live)
    live.apply('end')
    expect(get('a')).toBeUndefined()
  })

  it('keep a run between two steps for ten seconds, and tell the tools what is known', async () => {
    const { pause, pausedOf, get } = liveRuns()
    pause('a')
    expect(pausedOf('a')).toMatchObject({ run: { _id: 'a' }, assistant: { _id: 'assistant' } })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(pausedOf('a')).toBeUndefined()
    expect(get('a')).toBeUndefined()
  })

  it('replace a run that is claimed again in this process, and stop the older attempt', () => {
    const { pause, claimed, get } = liveRuns()
    const older = pause('a')
    const newer = claimed({ ...offeredRun('a').run, fence: 2 }, { step: 1, isFresh: false })
    expect(older).toMatchObject({ state: 'dropped', isGivenUp: false })
    expect(get('a')).toBe(newer)
    // The end of the older one does not concern the newer one.
    older.apply('end')
    expect(get('a')).toBe(newer)
  })

  it('stop a run of which another process has a newer fence', () => {
    const { pause, supersede, get } = liveRuns()
    const live = pause('a')
    supersede('a', live.run.fence)
    supersede('b', 7)
    expect(get('a')).toBe(live)
    supersede('a', live.run.fence + 1)
    expect(live).toMatchObject({ state: 'dropped', isGivenUp: false })
    expect(get('a')).toBeUndefined()
  })

  it('forget the runs of deleted threads', () => {
    const { pause, offer, forgetThreads, get } = liveRuns()
    pause('a')
    offer('b')
    forgetThreads(new Set(['another']))
    expect(get('a')).toBeDefined()
    forgetThreads(new Set(['thread']))
    expect([get('a'), get('b')]).toEqual([undefined, undefined])
  })

  it('wait between two steps in a limited number', () => {
    const { pause, pausedOf, get } = liveRuns()
    for (let index = 0; index <= 1000; index++) pause(`run ${index}`)
    expect(pausedOf('run 0')).toBeDefined()
    expect(pausedOf('run 999')).toBeDefined()
    expect(get('run 1000')).toBeUndefined()
  })
})

describe('the timeout of a first workflow task', () => {
  function timeouts() {
    let time = 0
    const { begin } = createTaskTimeouts({ taskTimeoutMs: 2000, clock: () => time })
    return {
      begin,
      pass: (ms: number) => {
        time += ms
      },
    }
  }

  it('is the configured one while starts are quick', () => {
    const { begin, pass } = timeouts()
    for (let index = 0; index < 3; index++) {
      const start = begin()
      expect(start.timeoutMs).toBe(2000)
      pass(100)
      start.ended({ asked: true })
    }
  })

  it('is longer after a slow start, for ten seconds', () => {
    const { begin, pass } = timeouts()
    const slow = begin()
    pass(1000)
    slow.ended({ asked: true })
    pass(9999)
    const next = begin()
    expect(next.timeoutMs).toBe(4000)
    next.ended({ asked: false })
    pass(10_001)
    expect(begin().timeoutMs).toBe(2000)
  })

  it('is longer when many runs start at once, up to ten times', () => {
    const { begin } = timeouts()
    const all = Array.from({ length: 200 }, () => begin().timeoutMs)
    expect(all[7]).toBe(2000)
    expect(all[50]).toBe(51 * 50 * 4)
    expect(all[199]).toBe(20_000)
  })
})
