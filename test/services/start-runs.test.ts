import { describe, expect, it } from 'vitest'
import type { Enqueued } from '../../services/runs/enqueue-run.ts'
import { createRuns } from '../../services/runs/index.ts'
import { eventually } from '../support/eventually.ts'
import { runAttempt } from './run-attempt.ts'

/** Starts runs whose passing to Temporal the test decides, and notes what happens to their first steps. */
function startRuns() {
  let now = 0
  let isFull = false
  const notes: string[] = []
  const passing: PromiseWithResolvers<Enqueued>[] = []
  const note = (what: string) => async () => void notes.push(what)
  const { assistant, thread } = runAttempt('a')
  const deps = {
    collections: {
      runs: {
        async insertMany() {
          notes.push('store')
          if (isFull) throw new Error('full')
        },
      },
      threads: { findOne: () => ({ lean: () => ({ exec: async () => thread }) }) },
    },
    tracing: { currentTraceparent: () => undefined, ended: () => undefined },
    firstAttempts: { offer: () => 1000, withdraw: note('withdraw') },
    modelSteps: {
      beginFirst: note('begin'),
      acceptFirst: note('accept'),
      confirmFirst: note('confirm'),
      dropFirst: note('drop'),
    },
    attempts: { isBusy: () => false },
    conversations: { isAtHand: () => true },
    budgetCounting: { admit: async () => [], giveBack: async () => {} },
    accountOf: () => ({}),
    async enqueueRun() {
      notes.push('pass')
      const taken = Promise.withResolvers<Enqueued>()
      passing.push(taken)
      return taken.promise
    },
    onError: note('error'),
    clock: () => now,
  } as unknown as Parameters<typeof createRuns>[0]
  const runs = createRuns(deps)
  const newRun = { thread, assistant, input: [], strategy: 'enqueue' as const }
  return {
    notes,
    later: (ms: number) => (now += ms),
    fill: () => (isFull = true),
    startFollowed: () => runs.startFollowed(newRun, 'a'),
    /** Starts a run up to its passing. `take` says how Temporal takes it, and returns what happened. */
    async start(how: 'start' | 'startFollowed') {
      notes.length = 0
      passing.length = 0
      let isBack = false
      const run = runs[how](newRun, 'a').finally(() => (isBack = true))
      run.catch(() => undefined)
      await eventually('passing', async () => passing.length === 1)
      // Everything that does not wait for Temporal.
      await new Promise(setImmediate)
      return {
        wasBack: isBack,
        before: [...notes],
        async take(outcome: Enqueued | Error): Promise<void> {
          if (outcome instanceof Error) passing[0]?.reject(outcome)
          else passing[0]?.resolve(outcome)
          await run.catch(() => undefined)
          await new Promise(setImmediate)
        },
        run,
      }
    },
  }
}

describe('a run that is started', () => {
  it('is accepted before Temporal has taken it, if it is followed and Temporal took another a moment ago', async () => {
    const { start, later, notes } = startRuns()
    const first = await start('startFollowed')
    expect(first).toMatchObject({ wasBack: false, before: ['store', 'pass'] })
    await first.take('eager')
    expect(notes).toEqual(['store', 'pass', 'begin', 'accept', 'confirm'])

    later(9_999)
    const second = await start('startFollowed')
    expect(second).toMatchObject({ wasBack: true, before: ['begin', 'store', 'accept', 'pass'] })
    await second.take('eager')
    expect(notes.at(-1)).toBe('confirm')

    const unfollowed = await start('start')
    expect(unfollowed).toMatchObject({ wasBack: false, before: ['begin', 'store', 'pass'] })
    await unfollowed.take('eager')

    later(10_000)
    const afterPause = await start('startFollowed')
    expect(afterPause).toMatchObject({ wasBack: false, before: ['begin', 'store', 'pass'] })
    await afterPause.take('eager')
  })

  it('is dropped if it cannot be stored', async () => {
    const { start, startFollowed, fill, notes } = startRuns()
    await (await start('startFollowed')).take('eager')
    notes.length = 0
    fill()
    await expect(startFollowed()).rejects.toThrow('full')
    expect(notes).toEqual(['begin', 'store', 'withdraw', 'drop'])
  })

  it('is not begun early after one that another process executes, or that Temporal did not take', async () => {
    for (const outcome of ['started', new Error('away')] as const) {
      const { start, notes } = startRuns()
      await (await start('startFollowed')).take('eager')
      const second = await start('startFollowed')
      expect(second.wasBack).toBe(true)
      await second.take(outcome)
      expect(notes).toContain('drop')
      await expect(second.run).resolves.toMatchObject({ _id: 'a' })
      const third = await start('startFollowed')
      expect(third).toMatchObject({ wasBack: false, before: ['store', 'pass'] })
      await third.take('eager')
    }
  })
})
