import type { RunView } from '../../domain/run-events.ts'
import type { RunFeed } from '../../services/runs/run-feeds.ts'
import type { EventStream } from './event-stream.ts'

/** Readers get at most thirty states a second; changes in between are merged into the next state. */
const mergeMs = 33
/** Long states are sent less often, about a megabyte a second, so that one reader does not occupy the process. */
const bytesPerMs = 1000

interface Follower {
  /** Sends what is new; `over` after the last event, `sent` if the reader has received any text. */
  send(view: RunView): Promise<'over' | 'sent' | 'waiting'>
  /** Sends the last event of a stream that cannot continue. */
  giveUp(reason: 'closing' | 'failed'): void
  onError(error: unknown): void
}

/**
 * Follows a run for one reader until it has ended, the reader disconnects or `stop` is called. A slow reader gets
 * fewer, newer states: nothing is queued for it. The stream always ends with a last event.
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
      const nextAt = performance.now() + Math.max(mergeMs, (stream.sentBytes - before) / bytesPerMs)
      await waiter.until(() => isUrgent() || (changed && stream.isWritable))
      // Only after the first text was sent, so that neither the first token nor the end is delayed.
      if (state === 'sent')
        await waiter.until(() => isUrgent() || feed.view.terminal !== undefined, nextAt - performance.now())
    }
  }

  /** A comment, which clients ignore: the model failed and is asked again. */
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
 * Waits for a condition that is checked on each `wake`. Each wait uses a new promise that ends with it; racing
 * promises that live as long as the stream would leak memory.
 */
function createWaiter() {
  let look = () => {}
  return {
    wake: () => look(),
    async until(isTrue: () => boolean, atMostMs?: number): Promise<void> {
      if (isTrue() || (atMostMs !== undefined && atMostMs <= 0)) return
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
