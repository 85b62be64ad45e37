import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { LiveRun, type LiveRunEvent, type LiveRunState, transitions } from '../../services/runs/live-runs.ts'
import { offeredRun } from './offered-run.ts'

const states: LiveRunState[] = ['offered', 'begun', 'joined', 'paused', 'ended', 'dropped']
const events: LiveRunEvent[] = ['begin', 'ask', 'pause', 'end', 'leave', 'change', 'supersede']

/** What each event leads to; a dot is no change. */
const expected: Record<LiveRunState, string> = {
  //       begin ask    pause  end   leave   change  supersede
  offered: 'begun joined . . dropped . dropped',
  begun: '. joined . . dropped dropped dropped',
  joined: '. . paused ended . dropped dropped',
  paused: '. joined . . dropped . dropped',
  ended: '. . . . . . .',
  dropped: '. . . . . . .',
}

/** The shortest way to each state. */
const ways: Record<LiveRunState, LiveRunEvent[]> = {
  offered: [],
  begun: ['begin'],
  joined: ['ask'],
  paused: ['ask', 'pause'],
  ended: ['ask', 'end'],
  dropped: ['leave'],
}

function liveRun() {
  const { run, assistant, thread } = offeredRun('a')
  const seen: string[] = []
  const live = new LiveRun(run, {
    state: 'offered',
    step: 0,
    known: { assistant, thread, usages: [] },
    isFresh: true,
    onTransition: (changed, before) => seen.push(`${before} ${changed.state}`),
  })
  const next = { assistant, thread, usages: [] }
  const go = (...way: LiveRunEvent[]) => {
    for (const event of way) {
      if (event === 'pause') live.next = next
      live.apply(event)
    }
  }
  return { live, run, thread, seen, go }
}

describe('a live run', () => {
  it.each(states.flatMap((state) => events.map((event, index) => ({ state, event, index }))))(
    'that is $state changes as the table says with $event',
    async ({ state, event, index }) => {
      const { live, go, seen } = liveRun()
      go(...ways[state])
      expect(live.state).toBe(state)
      const isOver = state === 'dropped'
      expect(live.signal.aborted).toBe(isOver)
      seen.length = 0
      const after = expected[state].split(' ')[index]
      expect(live.apply(event)).toBe(after !== '.')
      expect(live.state).toBe(after === '.' ? state : after)
      expect(seen).toEqual(after === '.' ? [] : [`${state} ${after}`])
      expect(live.signal.aborted).toBe(isOver || after === 'dropped')
      expect(live.isGivenUp).toBe(live.state === 'dropped' && (isOver || event !== 'supersede'))
      const mayStore = live.parentsChecked.then(
        () => 'yes',
        () => 'no',
      )
      expect(await Promise.race([mayStore, nextTurn('unknown')])).toBe(live.state === 'dropped' ? 'no' : 'unknown')
    },
  )

  it('has a table that names each state and only these events', () => {
    expect(Object.keys(transitions)).toEqual(states)
    const named = Object.values(transitions).flatMap((row) => Object.keys(row))
    expect([...new Set(named)].sort()).toEqual([...events].sort())
  })

  it('lets its step store when its parents are known to be as they were read', async () => {
    const { live, go, thread } = liveRun()
    go('begin', 'ask')
    live.noteParents('same')
    await expect(live.parentsChecked).resolves.toBeUndefined()
    expect(live.known?.thread).toEqual(thread)
    expect(live.state).toBe('joined')
  })

  it('is given up if its thread has changed while its step is executed', async () => {
    for (const way of [['begin'], ['ask'], ['begin', 'ask']] as const) {
      const { live, go } = liveRun()
      go(...way)
      live.noteParents('changed')
      await expect(live.parentsChecked).rejects.toThrow()
      expect(live.isGivenUp).toBe(true)
    }
  })

  it('does not know its thread any more if it was checked before a step began', async () => {
    for (const found of ['same', 'changed'] as const) {
      const { live } = liveRun()
      live.noteParents(found)
      await expect(live.parentsChecked).resolves.toBeUndefined()
      expect(live).toMatchObject({ state: 'offered', known: { thread: undefined } })
      expect(live.known?.assistant._id).toBe('assistant')
    }
  })

  it('keeps what the next step needs, and not the input', () => {
    const { live, run, go } = liveRun()
    run.input_json = '[1]'
    go('ask', 'pause')
    expect(live).toMatchObject({ step: 1, known: { usages: [] }, run: { input_json: '' } })
    expect(run.input_json).toBe('[1]')
  })
})
