import type { RunView } from '../../domain/run-events.ts'
import type { RunFeed } from '../../services/runs/run-feeds.ts'
import type { EventStream } from './event-stream.ts'

/** Readers get about thirty states a second; what happens in between is merged into the next. */
const mergeMs = 33
/** Long states come less often, so that one reader does not occupy the process: about a megabyte a second. */
const bytesPerMs = 1000

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
export function followRun(
  stream: Pick<EventStream, 'comment' | 'end' | 'onProgress' | 'isWritable' | 'isClosed' | 'sentBytes'>,
  feed: RunFeed,
  follower: Follower,
) {
  const waiter = createWaiter()
  let stopped = false
  let changed = false
  let told: string | undefined
  const isUrgent = () => stopped || stream.isClosed

  async function follow(): Promise<void> {
    while (!stream.isClosed) {
      if (stopped) return follower.giveUp('closing')
      changed = false
      const before = stream.sentBytes
      tellRetries()
      const state = await follower.send(feed.view)
      if (state === 'over') return
      const pauseMs = Math.max(mergeMs, (stream.sentBytes - before) / bytesPerMs)
      await waiter.until(() => isUrgent() || (changed && stream.isWritable))
      // Only after the first text is on its way: the first token is never held back, and neither is the end.
      if (state === 'sent') await waiter.until(() => isUrgent() || feed.view.terminal !== undefined, pauseMs)
    }
  }

  /** A comment, which clients pass over: a model that fails is asked again, and nothing else is said meanwhile. */
  function tellRetries(): void {
    if (feed.view.retryingSince === undefined || feed.view.retryingSince === told) return
    told = feed.view.retryingSince
    stream.comment('retrying')
  }

  const finished = (async () => {
    const unlisten = feed.onChange(() => {
      changed = true
      waiter.wake()
    })
    stream.onProgress(waiter.wake)
    try {
      await follow()
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
      waiter.wake()
    },
  }
}

/**
 * Waits for a condition that is looked at on each `wake`. Each wait makes one promise that ends with
 * it: racing promises that live as long as the stream would leave something with them each time.
 */
function createWaiter() {
  let look = () => {}
  return {
    wake: () => look(),
    async until(isTrue: () => boolean, atMostMs?: number): Promise<void> {
      if (isTrue()) return
      await new Promise<void>((resolve) => {
        const timer = atMostMs === undefined ? undefined : setTimeout(resolve, atMostMs)
        look = () => {
          if (!isTrue()) return
          clearTimeout(timer)
          resolve()
        }
      })
      look = () => {}
    },
  }
}
