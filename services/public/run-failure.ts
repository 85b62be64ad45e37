import { AppError, type ErrorCode } from '../../domain/errors.ts'
import type { RunError } from '../../domain/records/run.ts'

/**
 * A failed run as the refusal of the request that waited for it. A status that would speak of the
 * caller's own token or path is the model's, so that it becomes 502.
 */
export function refusalOf(error: RunError): AppError {
  return new AppError(codeOf(error.status_code), error.message, { cause: error })
}

function codeOf(status: number): ErrorCode {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return 'bad_request'
    case 429:
      return 'too_many_requests'
    case 499:
      return 'cancelled'
    case 500:
      return 'internal'
    case 503:
      return 'unavailable'
    case 504:
      return 'timed_out'
    default:
      return 'upstream_failed'
  }
}
