import { ApplicationFailure, CancelledFailure, log } from '@temporalio/activity'
import { AppError, isRetryable } from '../domain/errors.ts'

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
