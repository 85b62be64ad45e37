import { compareIds, zeroId } from '../../domain/ids.ts'
import type { RunKey } from '../../domain/records/run.ts'
import { type RunView, applyEntries, emptyView } from '../../domain/run-events.ts'
import { within } from '../within.ts'
import { type RunSnapshot, completeView } from './run-snapshot.ts'
import type { RunStream, StreamBatch } from './run-stream.ts'

interface RunFeedsDeps {
  stream: RunStream
  /** The database's state of the run; undefined if the run is gone. */
  snapshot(run: RunKey): Promise<RunSnapshot | undefined>
  onError(error: unknown): void
}

/** One run as all its readers in this process see it. */
export interface RunFeed {
  readonly view: RunView
  /** Calls `listener` after every change until the returned function is called. */
  onChange(listener: () => void): () => void
  close(): void
}

/** A feed may be opened before the run is prepared, and then its thread is not known yet. */
interface FeedOf {
  runId: string
  threadId: string | Promise<string>
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
 * each reader is kept.
 */
export function createRunFeeds(deps: RunFeedsDeps) {
  const feeds = new Map<string, SharedFeed>()

  /** `isNew` says that the run's stream must be empty: there is nothing to read first. */
  async function open({ runId, threadId }: FeedOf, { isNew = false } = {}): Promise<RunFeed> {
    const feed = feeds.get(runId) ?? new SharedFeed(deps, { runId, threadId }, isNew)
    feeds.set(runId, feed)
    feed.users += 1
    try {
      await feed.ready
    } catch (error) {
      release(runId, feed)
      throw error
    }
    let closed = false
    return {
      view: feed.view,
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

  return {
    open,
    close() {
      for (const feed of feeds.values()) feed.end()
      feeds.clear()
    },
  }
}

/**
 * One run, folded for all its readers in this process. It subscribes before it reads the kept entries, so that it
 * misses none.
 */
class SharedFeed {
  readonly view = emptyView()
  readonly listeners = new Set<() => void>()
  users = 0
  /** Resolves when the view holds what was kept so far. */
  readonly ready: Promise<void>

  readonly #deps: RunFeedsDeps
  readonly #of: FeedOf
  readonly #timer: NodeJS.Timeout
  #unsubscribe: (() => Promise<void>) | undefined
  #ended = false
  #lastNews = Date.now()
  /** How often batches were missed, and how many of these gaps have been read since. */
  readonly #gaps = { found: 0, filled: 0 }
  /** New batches while the kept ones are being read, so that all are applied in order. */
  #waiting: StreamBatch[] | undefined
  #catchingUp: Promise<void> | undefined

  constructor(deps: RunFeedsDeps, of: FeedOf, isNew: boolean) {
    this.#deps = deps
    this.#of = of
    this.#waiting = isNew ? undefined : []
    this.#timer = setInterval(() => this.#check(), checkUnsubscribedEveryMs).unref()
    this.ready = this.#begin(isNew)
  }

  end(): void {
    this.#ended = true
    clearInterval(this.#timer)
    this.#unsubscribe?.().catch(this.#deps.onError)
  }

  async #begin(isNew: boolean): Promise<void> {
    const { onError } = this.#deps
    const subscribing = this.#subscribe().catch(onError)
    await within(subscribeLimitMs, subscribing)
    if (this.#unsubscribe === undefined) {
      this.#lose()
      subscribing.then(() => this.#catchUpAnew()).catch(onError)
    }
    if (!isNew) await this.#catchUp()
  }

  async #subscribe(): Promise<void> {
    const off = await this.#deps.stream.subscribe(this.#of.runId, {
      receive: (batch) => this.#receive(batch),
      lost: () => this.#lose(),
      back: () => {
        this.#catchUpAnew().catch(this.#deps.onError)
      },
    })
    if (this.#ended) await off()
    else this.#unsubscribe = off
  }

  #lose(): void {
    this.#gaps.found += 1
  }

  #receive(batch: StreamBatch): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(batch)
      return
    }
    // Read later, after those that are missing before it.
    if (this.#gaps.filled < this.#gaps.found) return
    if (batch.before !== undefined && compareIds(batch.before, this.view.lastId) > 0) {
      this.#lose()
      this.#catchUpAnew().catch(this.#deps.onError)
      return
    }
    applyEntries(this.view, batch.id, batch.entries)
    this.#notify()
  }

  #notify(): void {
    this.#lastNews = Date.now()
    for (const listener of this.listeners) listener()
  }

  #check(): void {
    const pauseMs = this.#unsubscribe === undefined ? checkUnsubscribedEveryMs : checkEveryMs
    if (Date.now() - this.#lastNews < pauseMs || this.view.terminal !== undefined) return
    this.#lastNews = Date.now()
    this.#catchUp().catch(this.#deps.onError)
  }

  /** After a subscription that was broken or late: earlier entries were missed. */
  async #catchUpAnew(): Promise<void> {
    await this.#catchingUp?.catch(() => undefined)
    await this.#catchUp()
  }

  #catchUp(): Promise<void> {
    return (this.#catchingUp ??= this.#readAndHear().finally(() => (this.#catchingUp = undefined)))
  }

  async #readAndHear(): Promise<void> {
    this.#waiting ??= []
    try {
      if (await this.#readKept()) this.#notify()
    } finally {
      const pending = this.#waiting ?? []
      this.#waiting = undefined
      for (const batch of pending) this.#receive(batch)
    }
  }

  /** Whether that changed the view. */
  async #readKept(): Promise<boolean> {
    const { stream, snapshot, onError } = this.#deps
    const { lastId, at: before } = this.view
    const { found } = this.#gaps
    const batches = await stream.read(this.#of.runId, lastId === zeroId ? undefined : lastId).catch(onError)
    if (batches) this.#gaps.filled = found
    else this.#gaps.found += 1
    for (const batch of batches ?? []) applyEntries(this.view, batch.id, batch.entries)
    if (!this.view.complete || this.view.terminal === undefined) {
      const stored = await snapshot({ _id: this.#of.runId, thread_id: await this.#of.threadId })
      if (stored !== undefined) completeView(this.view, stored)
    }
    return this.view.at !== before
  }
}
