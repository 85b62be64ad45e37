import { AppError } from '../domain/errors.ts'

/**
 * Lets at most `slots` pieces of work run at once. A slot that becomes free goes to the owners that
 * wait in turn, so that the queue of one does not delay another; of each owner at most `maxWaiting`
 * wait, more are refused as `unavailable`.
 */
export function createSemaphore(slots: number, maxWaiting: number) {
  let free = slots
  /** By owner, in the order of their turns. */
  const waiting = new Map<string, (() => void)[]>()

  function wait(owner: string): Promise<void> {
    const queue = waiting.get(owner) ?? []
    if (queue.length >= maxWaiting)
      throw new AppError('unavailable', 'Too many requests at once; try again soon.', { retryAfterSeconds: 5 })
    waiting.set(owner, queue)
    return new Promise((resolve) => queue.push(resolve))
  }

  function passOn(): void {
    for (const [owner, queue] of waiting) {
      waiting.delete(owner)
      const next = queue.shift()
      if (queue.length > 0) waiting.set(owner, queue)
      if (next) return next()
    }
    free += 1
  }

  return async function withSlot<T>(work: () => Promise<T>, owner = ''): Promise<T> {
    if (free > 0) free -= 1
    else await wait(owner)
    try {
      return await work()
    } finally {
      passOn()
    }
  }
}
