import { eventIdOf, goneEntryId, laterId, zeroId } from '../../domain/event-ids.ts'
import { type FoldedMessage, type RunView, applyEntries, emptyView } from '../../domain/run-events.ts'
import type { RunSnapshot } from './run-snapshot.ts'
import { within } from '../within.ts'
import type { RunStream, StreamBatch } from './run-stream.ts'

export interface RunFeedsDeps {
  stream: RunStream
  /** The database's state of the run; undefined if the run is gone. */
  snapshot(runId: string): Promise<RunSnapshot | undefined>
  onError(error: unknown): void
}

/** One run as all its readers in this process see it. */
export interface RunFeed {
  readonly view: RunView
  /** Calls `listener` after every change until the returned function is called. */
  onChange(listener: () => void): () => void
  close(): void
}

interface SharedFeed {
  view: RunView
  listeners: Set<() => void>
  users: number
  ready: Promise<void>
  lose(): void
  reconnect(): void
  end(): void
}

export type RunFeeds = ReturnType<typeof createRunFeeds>

/** How often a feed without news checks stream and database for entries that it missed. */
const checkEveryMs = 5000
/** How often a feed without a subscription reads the database, because Redis is away. */
const checkUnsubscribedEveryMs = 1000
/** How long a reader waits for Redis before the feed begins without it. */
const subscribeLimitMs = 2000

/**
 * The runs that have readers in this process. Each run is folded once for all its readers; only the position of
 * each reader is kept. The feed subscribes before it reads the kept entries, so that it misses none.
 */
export function createRunFeeds({ stream, snapshot, onError }: RunFeedsDeps) {
  const feeds = new Map<string, SharedFeed>()
  const stopListening = stream.onConnection({
    lost() {
      for (const feed of feeds.values()) feed.lose()
    },
    back() {
      for (const feed of feeds.values()) feed.reconnect()
    },
  })

  /** `isNew` says that the run's stream must be empty: there is nothing to read first. */
  async function open(runId: string, { isNew = false } = {}): Promise<RunFeed> {
    const feed = feeds.get(runId) ?? start(runId, isNew)
    feed.users += 1
    try {
      await feed.ready
    } catch (error) {
      release(runId, feed)
      throw error
    }
    let closed = false
    return {
      get view() {
        return feed.view
      },
      onChange(listener) {
        feed.listeners.add(listener)
        return () => feed.listeners.delete(listener)
      },
      close() {
        if (closed) return
        closed = true
        release(runId, feed)
      },
    }
  }

  function release(runId: string, feed: SharedFeed): void {
    feed.users -= 1
    if (feed.users > 0) return
    if (feeds.get(runId) === feed) feeds.delete(runId)
    feed.end()
  }

  function start(runId: string, isNew: boolean): SharedFeed {
    let unsubscribe: (() => Promise<void>) | undefined
    let waiting: StreamBatch[] | undefined = isNew ? undefined : []
    let lastNews = Date.now()
    let ended = false
    /** How often batches were missed, and how many of these gaps have been read since. */
    const gaps = { found: 0, filled: 0 }

    const notify = () => {
      lastNews = Date.now()
      for (const listener of feed.listeners) listener()
    }
    const hear = (batch: StreamBatch) => {
      if (waiting !== undefined) {
        waiting.push(batch)
        return
      }
      // Read later, after those that are missing before it.
      if (gaps.filled < gaps.found) return
      applyEntries(feed.view, batch.id, batch.entries)
      notify()
    }
    const readKept = async () => {
      const { lastId, at: before } = feed.view
      const { found } = gaps
      const batches = await stream.read(runId, lastId === zeroId ? undefined : lastId).catch(onError)
      if (batches) gaps.filled = found
      else gaps.found += 1
      for (const batch of batches ?? []) applyEntries(feed.view, batch.id, batch.entries)
      if (!feed.view.complete || feed.view.terminal === undefined) {
        const stored = await snapshot(runId)
        if (stored !== undefined) completeView(feed.view, stored)
      }
      return feed.view.at !== before
    }
    let catchingUp: Promise<void> | undefined
    const catchUp = () => (catchingUp ??= readAndHear().finally(() => (catchingUp = undefined)))
    /** New entries wait while the kept ones are read, so that all are applied in order. */
    const readAndHear = async () => {
      if (waiting === undefined) waiting = []
      try {
        if (await readKept()) notify()
      } finally {
        const held = waiting ?? []
        waiting = undefined
        for (const batch of held) hear(batch)
      }
    }
    const subscribe = async () => {
      if (unsubscribe !== undefined || ended) return
      const off = await stream.subscribe(runId, hear)
      if (ended) await off()
      else unsubscribe = off
    }
    /** After a subscription that was broken or late: earlier entries were missed. */
    const catchUpAnew = async () => {
      await catchingUp?.catch(() => undefined)
      await catchUp()
    }
    const lose = () => {
      gaps.found += 1
    }
    const reconnect = () => {
      subscribe().then(catchUpAnew).catch(onError)
    }
    const timer = setInterval(() => {
      const pauseMs = unsubscribe === undefined ? checkUnsubscribedEveryMs : checkEveryMs
      if (Date.now() - lastNews < pauseMs || feed.view.terminal !== undefined) return
      lastNews = Date.now()
      catchUp().catch(onError)
    }, checkUnsubscribedEveryMs)
    timer.unref()

    const feed: SharedFeed = {
      view: emptyView(),
      listeners: new Set(),
      users: 0,
      ready: (async () => {
        const subscribing = subscribe().catch(onError)
        await within(subscribeLimitMs, subscribing)
        if (unsubscribe === undefined) {
          lose()
          subscribing.then(catchUpAnew).catch(onError)
        }
        if (!isNew) await catchUp()
      })(),
      lose,
      reconnect,
      end() {
        ended = true
        clearInterval(timer)
        unsubscribe?.().catch(onError)
      },
    }
    feeds.set(runId, feed)
    return feed
  }

  return {
    open,
    close() {
      stopListening()
      for (const feed of feeds.values()) feed.end()
      feeds.clear()
    },
  }
}

/**
 * Adds from the database what the stream no longer contains, or never received because Redis was away: the stored
 * messages of a run whose beginning is missing, and the end of a run that has ended.
 */
export function completeView(view: RunView, stored: RunSnapshot): void {
  const ended = stored.terminal !== undefined && view.terminal === undefined
  if (view.complete && !ended) return
  const at = eventIdOf(laterId(view.lastId, goneEntryId), ended ? 'final' : 'completed')
  view.at = ended && view.lastId === zeroId ? (stored.lastDataEventId ?? at) : at
  const messages = new Map<string, FoldedMessage>()
  for (const whole of stored.messages) {
    const id = whole.data.id
    const known = view.messages.get(id)
    const same =
      known !== undefined && 'whole' in known.content && JSON.stringify(known.content.whole) === JSON.stringify(whole)
    messages.set(id, same ? known : { id, changedAt: view.at, content: { whole } })
  }
  // A message that is not stored yet is still being written; of an ended run, the stored messages count.
  if (!ended) for (const [id, known] of view.messages) if (!messages.has(id)) messages.set(id, known)
  view.messages = messages
  view.complete = true
  if (ended) {
    view.terminal = stored.terminal
    view.restored = stored.lastDataEventId !== undefined
  }
}
