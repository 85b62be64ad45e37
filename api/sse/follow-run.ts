import type { RunView } from '../../domain/run-events.ts'
import type { RunFeed } from '../../services/runs/index.ts'
import type { EventStream } from './event-stream.ts'

/** Readers get at most thirty states a second; changes in between are merged into the next state. */
const mergeMs = 33
/** Long states are sent less often, about a megabyte a second, so that one reader does not occupy the process. */
const bytesPerMs = 1000

/** `over` after the last event, `sent` if the reader has received any text. */
type Sent = 'over' | 'sent' | 'waiting'

interface Follower {
  /** Sends what is new. */
  send(view: RunView): Sent | Promise<Sent>
  /** Sends the last event of a stream that cannot continue. */
  giveUp(reason: 'closing' | 'failed'): void
  onError(error: unknown): void
}

/**
 * Follows a run for one reader until it has ended, the reader disconnects or `stop` is called. A slow reader gets
 * fewer, newer states: nothing is queued for it. The stream always ends with a last event.
 *
 * A change is sent within the call that reports it, without a promise: with one for each word, a thousand readers keep
 * the garbage collector busy.
 */
export function followRun(
  stream: Pick<EventStream, 'comment' | 'end' | 'onProgress' | 'isWritable' | 'isClosed' | 'sentBytes'>,
  feed: RunFeed,
  follower: Follower,
) {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  let stopped = false
  let changed = true
  let isSending = false
  let isOver = false
  /** Nothing is sent before; 0 before the first text, so that it is not delayed. */
  let nextAt = 0
  let timer: NodeJS.Timeout | undefined
  let lastNotified: string | undefined

  /** Sends what is new if it is time for it. */
  function inspect(): void {
    if (isOver || isSending) return
    if (stream.isClosed) return end()
    if (stopped) return giveUp('closing')
    if (!changed || !stream.isWritable) return
    const early = feed.view.terminal === undefined ? nextAt - performance.now() : 0
    if (early > 0) timer ??= setTimeout(onTime, early)
    else send()
  }

  function onTime(): void {
    timer = undefined
    nextAt = 0
    inspect()
  }

  function send(): void {
    changed = false
    const before = stream.sentBytes
    const after = (state: Sent) => {
      isSending = false
      if (state === 'over') return end()
      nextAt = state === 'sent' ? performance.now() + Math.max(mergeMs, (stream.sentBytes - before) / bytesPerMs) : 0
      inspect()
    }
    try {
      tellRetries()
      const state = follower.send(feed.view)
      if (typeof state === 'string') return after(state)
      isSending = true
      state.then(after).catch(fail)
    } catch (error) {
      fail(error)
    }
  }

  /** A comment, which clients ignore: the model failed and is asked again. */
  function tellRetries(): void {
    if (feed.view.retryingSince === undefined || feed.view.retryingSince === lastNotified) return
    lastNotified = feed.view.retryingSince
    stream.comment('retrying')
  }

  function fail(error: unknown): void {
    follower.onError(error)
    giveUp('failed')
  }

  function giveUp(reason: 'closing' | 'failed'): void {
    try {
      follower.giveUp(reason)
    } finally {
      end()
    }
  }

  function end(): void {
    isOver = true
    clearTimeout(timer)
    unlisten()
    feed.close()
    stream.end()
    finish()
  }

  const unlisten = feed.onChange(() => {
    changed = true
    inspect()
  })
  stream.onProgress(inspect)
  inspect()

  return {
    finished,
    stop() {
      stopped = true
      inspect()
    },
  }
}
