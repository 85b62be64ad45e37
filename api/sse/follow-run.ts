import type { RunView } from '../../domain/run-events.ts'
import type { RunFeed } from '../../services/runs/run-feeds.ts'
import type { EventStream } from './event-stream.ts'

/** Readers get about thirty states a second; what happens in between is merged into the next. */
const mergeMs = 33

interface Follower {
  /** Sends what is new; `over` after the last event, `sent` when the reader has got any text yet. */
  send(view: RunView): Promise<'over' | 'sent' | 'waiting'>
  /** Sends the last event of a stream that cannot go on. */
  giveUp(reason: 'closing' | 'failed'): void
  onError(error: unknown): void
}

/**
 * Follows a run for one reader until it is over, the reader goes away or `stop` is called. A reader
 * that is slow gets fewer, newer states: nothing piles up for it. The stream never just breaks off.
 */
export function followRun(stream: EventStream, feed: RunFeed, follower: Follower) {
  let stopped = false
  let wake = () => {}
  const mergePause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, mergeMs)
      wake = () => {
        if (!stopped && feed.view.terminal === undefined) return
        clearTimeout(timer)
        resolve()
      }
    })
  const finished = (async () => {
    const unlisten = feed.onChange(() => wake())
    try {
      while (!stream.isClosed) {
        if (stopped) return follower.giveUp('closing')
        const news = new Promise<void>((resolve) => {
          wake = resolve
        })
        const state = await follower.send(feed.view)
        if (state === 'over') return
        await Promise.race([stream.drained(), stream.closed])
        if (!stopped) await Promise.race([news, stream.closed])
        // Only after the first text is on its way: the first token is never held back, and neither is the end.
        if (state === 'sent' && !stopped && feed.view.terminal === undefined) await mergePause()
      }
    } catch (error) {
      follower.onError(error)
      follower.giveUp('failed')
    } finally {
      unlisten()
      feed.close()
      stream.end()
    }
  })()

  return {
    finished,
    stop() {
      stopped = true
      wake()
    },
  }
}
