import { AppError, type ErrorCode, httpStatusOf } from '../../domain/errors.ts'
import type { ModelFailure, ModelFailureType } from '../../domain/model-failure.ts'

const codeOf: Record<ModelFailureType, ErrorCode> = {
  model_refused_request: 'bad_request',
  context_length_exceeded: 'bad_request',
  model_busy: 'too_many_requests',
  model_quota_exceeded: 'unavailable',
  model_timeout: 'timed_out',
  model_connection_error: 'upstream_failed',
  model_credentials_refused: 'upstream_failed',
  model_invalid_answer: 'upstream_failed',
  model_answer_too_long: 'upstream_failed',
  model_not_found: 'upstream_failed',
  model_error: 'upstream_failed',
}

/** The answer to a caller whose request a server of the settings did not answer. */
export function refusalOfServer({ message, type, retryAfterMs }: ModelFailure): AppError {
  const code = codeOf[type]
  return new AppError(code, message, {
    // What error bodies show as the code.
    cause: { type, status_code: httpStatusOf[code], message },
    ...(retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
  })
}
