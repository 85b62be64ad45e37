import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation } from '@temporalio/workflow'
import { type CarriedRun, type FinalizeInput, supersededType } from '../domain/contracts/thread.ts'
import { errorCodes, httpStatusOf } from '../domain/errors.ts'
import type { RunError } from '../domain/records/run.ts'
import { runErrorTypeOf } from '../domain/run-errors.ts'
import { timeLimitReached } from './time-limit.ts'

/** How a run ends whose step or tool threw `error`. */
export function outcomeOf(error: unknown, run: CarriedRun): Pick<FinalizeInput, 'outcome' | 'error'> {
  if (isCancellation(error)) return { outcome: 'cancelled' }
  // The server starts no retry for which no time is left: the activity then fails with its last failure.
  if (error instanceof ActivityFailure && error.retryState === 'TIMEOUT')
    return outcomeOf(timeLimitReached(run, error.cause), run)
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof TimeoutFailure) {
    return {
      outcome: 'error',
      error: { status_code: 504, message: 'The run took too long.', type: 'timed_out', details: '' },
    }
  }
  if (cause instanceof ApplicationFailure && cause.type === supersededType) return { outcome: 'cancelled' }
  if (cause instanceof ApplicationFailure) {
    const [status, details] = cause.details ?? []
    const known = errorCodes.find((code) => code === cause.type)
    return {
      outcome: 'error',
      error: {
        status_code: typeof status === 'number' ? status : httpStatusOf[known ?? 'internal'],
        message: cause.message,
        type: runErrorTypeOf(cause.type),
        details: typeof details === 'string' ? details : '',
      },
    }
  }
  return {
    outcome: 'error',
    error: { status_code: 500, message: 'The run failed.', type: 'internal_error', details: '' },
  }
}

/** Of a run whose client did not send the results of its functions in time. */
export const expiredError: RunError = {
  status_code: 504,
  message: 'The client did not send the results of its functions in time.',
  type: 'expired',
  details: '',
}

export function stepLimitReached(limit: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: `The run reached its limit of ${limit} steps without a final answer.`,
    type: 'max_steps',
    nonRetryable: true,
    details: [422, `max_steps is ${limit}`],
  })
}
