import { AppError } from '../domain/errors.ts'

/** Lets at most `slots` pieces of work run at once; at most `maxWaiting` wait, more are refused as `unavailable`. */
export function createSemaphore(slots: number, maxWaiting: number) {
  let free = slots
  const waiting: (() => void)[] = []

  return async function withSlot<T>(work: () => Promise<T>): Promise<T> {
    if (free > 0) free -= 1
    else if (waiting.length >= maxWaiting)
      throw new AppError('unavailable', 'Too many requests at once; try again soon.', { retryAfterSeconds: 5 })
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
