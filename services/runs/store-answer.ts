import { setTimeout as sleep } from 'node:timers/promises'
import { backOffMs } from '../../domain/back-off.ts'
import { AppError, isRetryable } from '../../domain/errors.ts'
import { SupersededError } from './live-runs.ts'

/** A model has answered, and its answer cannot be stored. The model is not asked again: another answer costs as much. */
export class AnswerNotStoredError extends Error {
  constructor(cause: unknown) {
    super('The answer could not be stored.', { cause })
    this.name = 'AnswerNotStoredError'
  }
}

const attempts = 10
const pauses = { firstMs: 200, longestMs: 20_000 }

/**
 * Stores an answer, and tries again when that fails, for a minute: the database may be away. Throws at once what no
 * repetition changes, `AnswerNotStoredError` in the end, or the signal's reason.
 */
export async function storeAnswer<T>(
  work: () => Promise<T>,
  {
    signal,
    onError,
    wait = (ms) => sleep(ms, undefined, { signal }),
  }: { signal: AbortSignal; onError(error: unknown): void; wait?(ms: number): Promise<unknown> },
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof SupersededError || (error instanceof AppError && !isRetryable[error.code])) throw error
      signal.throwIfAborted()
      onError(error)
      if (attempt === attempts) throw new AnswerNotStoredError(error)
      await wait(backOffMs(attempt, pauses))
    }
  }
}
