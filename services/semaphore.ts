import { AppError } from '../domain/errors.ts'
import { createWaitingTurns } from './waiting-turns.ts'

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
