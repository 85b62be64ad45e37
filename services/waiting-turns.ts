interface Limits {
  /** Maximum of all that wait. */
  most: number
  /** Maximum for one owner. */
  mostPerOwner: number
}

/** Who waits for something, by owner: owners have their turns one after the other, however many wait for each. */
export function createWaitingTurns({ most, mostPerOwner }: Limits) {
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
