import { AppError } from '../domain/errors.ts'

export interface SemaphoreOptions {
  /** Pieces of work that run at once. */
  slots: number
  /** Maximum for one owner; default: all. */
  slotsPerOwner?: number
  /** Maximum number of waiting pieces of work. */
  waiting?: number
  /** Maximum for one owner. */
  waitingPerOwner: number
}

/** Releases a slot; only the first call has an effect. */
export type Release = () => void

export type Semaphore = ReturnType<typeof createSemaphore>

/**
 * Limits how much runs at once. A slot that becomes free goes to the waiting owners in turn, so that one owner's
 * queue does not delay another's work.
 */
export function createSemaphore({
  slots,
  slotsPerOwner = slots,
  waiting: maxWaiting = Infinity,
  waitingPerOwner,
}: SemaphoreOptions) {
  let free = slots
  const runningOf = new Map<string, number>()
  const turns = createWaitingTurns({ most: maxWaiting, mostPerOwner: waitingPerOwner })

  const hasSlotFor = (owner: string) => free > 0 && (runningOf.get(owner) ?? 0) < slotsPerOwner

  function take(owner: string): void {
    free -= 1
    runningOf.set(owner, (runningOf.get(owner) ?? 0) + 1)
  }

  function giveBack(owner: string): void {
    free += 1
    const left = (runningOf.get(owner) ?? 1) - 1
    if (left > 0) runningOf.set(owner, left)
    else runningOf.delete(owner)
    turns.next(hasSlotFor)
  }

  /** A slot if one is free for this owner, else undefined. */
  function tryAcquire(owner = ''): Release | undefined {
    if (!hasSlotFor(owner)) return undefined
    take(owner)
    return releaseOf(owner)
  }

  function releaseOf(owner: string): Release {
    let isReleased = false
    return () => {
      if (!isReleased) giveBack(owner)
      isReleased = true
    }
  }

  /**
   * A slot, when it is this owner's turn; undefined if too many wait already. Throws the signal's reason if the
   * signal aborts first.
   */
  async function acquire(owner: string, signal?: AbortSignal): Promise<Release | undefined> {
    signal?.throwIfAborted()
    const free = tryAcquire(owner)
    if (free !== undefined) return free
    const turn = turns.wait(owner, () => take(owner), signal)
    if (turn === undefined) return undefined
    await turn
    return releaseOf(owner)
  }

  return {
    tryAcquire,
    acquire,
    /** Throws `refusal` when too many wait already; by default `unavailable`. */
    async withSlot<T>(work: () => Promise<T>, owner = '', refusal: () => AppError = tooManyAtOnce): Promise<T> {
      const release = await acquire(owner)
      if (release === undefined) throw refusal()
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}

function tooManyAtOnce(): AppError {
  return new AppError('unavailable', 'Too many requests at once; try again soon.', { retryAfterSeconds: 5 })
}

interface Limits {
  /** Maximum of all that wait. */
  most: number
  /** Maximum for one owner. */
  mostPerOwner: number
}

/** Who waits for something, by owner: owners have their turns one after the other, however many wait for each. */
function createWaitingTurns({ most, mostPerOwner }: Limits) {
  let waiting = 0
  /** By owner, in the order of their turns. */
  const queues = new Map<string, Set<() => void>>()

  return {
    /**
     * Resolves after `enter`, which is called when it is this owner's turn. Undefined if too many wait already.
     * Rejects with the signal's reason if the signal aborts first.
     */
    wait(owner: string, enter: () => void, signal?: AbortSignal): Promise<void> | undefined {
      const queue = queues.get(owner) ?? new Set()
      if (queue.size >= mostPerOwner || waiting >= most) return undefined
      return new Promise((resolve, reject) => {
        const leave = () => {
          signal?.removeEventListener('abort', abort)
          waiting -= 1
          queue.delete(haveTurn)
          if (queue.size === 0) queues.delete(owner)
        }
        const haveTurn = () => {
          leave()
          enter()
          resolve()
        }
        const abort = () => {
          leave()
          reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
        }
        waiting += 1
        queues.set(owner, queue.add(haveTurn))
        signal?.addEventListener('abort', abort, { once: true })
      })
    },

    /** Gives the turn to the next owner for whom `isFree` is true. */
    next(isFree: (owner: string) => boolean): void {
      for (const [owner, queue] of queues) {
        if (!isFree(owner)) continue
        const [haveTurn] = queue
        // This owner's next turn comes after those of all others.
        queues.delete(owner)
        queues.set(owner, queue)
        return haveTurn?.()
      }
    },
  }
}
