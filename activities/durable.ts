import { ApplicationFailure, CancelledFailure, activityInfo, heartbeat, log } from '@temporalio/activity'
import { AppError, isRetryable } from '../domain/errors.ts'

const heartbeatMs = 500

/**
 * An activity that heartbeats while it works, so that a dead worker is noticed soon and a cancellation arrives. A
 * local activity needs none: the worker keeps its workflow task alive. `asFailure` may turn an error into the
 * `ApplicationFailure` by which Temporal decides about retries; `translateErrors` does so for every other error.
 */
export function durable<Input, Output>(
  work: (input: Input) => Promise<Output>,
  asFailure: (error: unknown) => unknown = (error) => error,
): (input: Input) => Promise<Output> {
  return translateErrors(async (input: Input) => {
    const beat = activityInfo().isLocal ? undefined : setInterval(heartbeat, heartbeatMs)
    try {
      return await work(input)
    } catch (error) {
      throw asFailure(error)
    } finally {
      clearInterval(beat)
    }
  })
}

/**
 * Errors of activities are stored in histories, so only the message of an `AppError` is kept. Any other error is
 * named by its kind, logged in full, and may be retried.
 */
export function translateErrors<Input, Output>(
  activity: (input: Input) => Promise<Output>,
): (input: Input) => Promise<Output> {
  return async (input) => {
    try {
      return await activity(input)
    } catch (error) {
      if (error instanceof ApplicationFailure || error instanceof CancelledFailure) throw error
      if (error instanceof AppError) {
        if (error.cause !== undefined) log.warn('activity failed', { code: error.code, error: error.cause })
        throw ApplicationFailure.create({
          message: error.message,
          type: error.code,
          nonRetryable: !isRetryable[error.code],
        })
      }
      log.error('activity failed', { error })
      const kind = error instanceof Error ? error.name : typeof error
      throw ApplicationFailure.create({ message: `unexpected failure (${kind})`, type: 'internal' })
    }
  }
}
