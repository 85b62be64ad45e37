import { describe, expect, it, vi } from 'vitest'
import type { RunEntry } from '../../domain/run-events.ts'
import { createRunFeeds } from '../../services/runs/run-feeds.ts'
import type { StreamBatch, StreamListener } from '../../services/runs/run-stream.ts'
import { useFakeTimers } from '../support/fake-timers.ts'

/** Feeds over a stream whose connection the test breaks and mends. */
function feeds() {
  const kept: StreamBatch[] = []
  let subscribed: StreamListener | undefined
  const state = { isReadable: true }
  const runFeeds = createRunFeeds({
    // Only what the feeds use.
    stream: {
      async subscribe(_runId: string, listener: StreamListener) {
        subscribed = listener
        return async () => {}
      },
      async read(_runId: string, afterId = '0-0') {
        if (!state.isReadable) throw new Error('Redis is away')
        return kept.filter(({ id }) => id > afterId)
      },
    } as never,
    snapshot: async () => undefined,
    onError: () => {},
  })
  return {
    state,
    runFeeds,
    /** Published while the subscription is as `isHeard` says. */
    publish(id: string, entries: RunEntry[], { isHeard = true } = {}) {
      kept.push({ id, entries })
      if (isHeard) subscribed?.receive({ id, entries })
    },
    lose: () => subscribed?.lost(),
    mend: () => subscribed?.back(),
  }
}

const text = (piece: string): RunEntry => ({ type: 'text', id: 'm', text: piece })
const begin: RunEntry[] = [{ type: 'open' }, { type: 'begin', id: 'm' }]
const shown = (view: { messages: Map<string, { content: object }> }) => JSON.stringify(view.messages.get('m')?.content)

describe('the feed of a run whose subscription broke', () => {
  useFakeTimers()

  it('shows nothing behind a gap before it has read the gap', async () => {
    const { runFeeds, publish, lose, mend } = feeds()
    const feed = await runFeeds.open({ runId: 'run', threadId: 'thread' }, { isNew: true })
    publish('1-0', [...begin, text('one ')])
    lose()
    publish('2-0', [text('two ')], { isHeard: false })
    // Heard again, but not told so yet.
    publish('3-0', [text('three')])
    expect(shown(feed.view)).toContain('one ')
    expect(shown(feed.view)).not.toContain('three')
    mend()
    await vi.advanceTimersByTimeAsync(0)
    expect(shown(feed.view)).toContain('one two three')
    publish('4-0', [text(' four')])
    expect(shown(feed.view)).toContain('one two three four')
    feed.close()
  })

  it('reads the gap when the connection that reads is back after the one that hears', async () => {
    const { runFeeds, publish, lose, mend, state } = feeds()
    const feed = await runFeeds.open({ runId: 'run', threadId: 'thread' }, { isNew: true })
    publish('1-0', [...begin, text('one ')])
    lose()
    state.isReadable = false
    publish('2-0', [text('two ')], { isHeard: false })
    mend()
    await vi.advanceTimersByTimeAsync(0)
    publish('3-0', [text('three')])
    expect(shown(feed.view)).not.toContain('three')
    state.isReadable = true
    mend()
    await vi.advanceTimersByTimeAsync(0)
    expect(shown(feed.view)).toContain('one two three')
    feed.close()
  })
})
