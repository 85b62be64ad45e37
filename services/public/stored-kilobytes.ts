import { createHash } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import type { RateTable } from '../../domain/rate-limits.ts'

export interface Counter {
  hit(key: string, windowMs: number, by: number): Promise<{ current: number; ttl: number }>
}

export type StoreKilobytes = <T>(assistantId: string, bytes: number, store: () => Promise<T>) => Promise<T>

/**
 * Counts what public callers of an assistant have stored; throws `too_many_requests` beyond the limit. What is refused
 * counts in no longer window, and what is not stored after all is given back.
 */
export function createStoredKilobytes(counter: Counter, { rateLimits }: { rateLimits: RateTable }): StoreKilobytes {
  const rates = rateLimits.get('public_kilobytes_assistant') ?? []
  return async (assistantId, bytes, store) => {
    const kilobytes = Math.ceil(bytes / 1000)
    const windows = rates.map(({ max, windowMs }) => ({
      max,
      windowMs,
      key: `public_kilobytes_assistant:${windowMs}:${hashOf(assistantId)}`,
    }))
    for (const { max, windowMs, key } of windows) {
      const { current, ttl } = await counter.hit(key, windowMs, kilobytes)
      if (current <= max) continue
      await counter.hit(key, windowMs, -kilobytes)
      throw new AppError('too_many_requests', 'This assistant can store nothing more at the moment.', {
        retryAfterSeconds: Math.max(1, Math.ceil(ttl / 1000)),
      })
    }
    try {
      return await store()
    } catch (error) {
      await Promise.allSettled(windows.map(({ key, windowMs }) => counter.hit(key, windowMs, -kilobytes)))
      throw error
    }
  }
}

/** As other counts: Redis is not told which assistant it is. */
const hashOf = (id: string): string => createHash('sha256').update(id).digest('base64url').slice(0, 22)
