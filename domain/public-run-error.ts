import { type ErrorCode, errorCodes, httpStatusOf } from './errors.ts'
import type { ModelFailureType } from './model-failure.ts'
import type { RunError } from './records/run.ts'

/** What each way in which a run fails means to a caller who waited for its answer. */
const codeOfFailure: Record<ModelFailureType | 'cancelled' | 'timeout' | 'max_steps', ErrorCode> = {
  model_busy: 'too_many_requests',
  model_quota_exceeded: 'unavailable',
  model_credentials_refused: 'upstream_failed',
  model_refused_request: 'bad_request',
  context_length_exceeded: 'bad_request',
  model_connection_error: 'upstream_failed',
  model_invalid_answer: 'upstream_failed',
  model_answer_too_long: 'upstream_failed',
  model_timeout: 'timed_out',
  model_error: 'upstream_failed',
  cancelled: 'cancelled',
  timeout: 'timed_out',
  max_steps: 'bad_request',
}

/** They would speak of the caller's own token or rights. */
const notOfTheCaller = new Set<ErrorCode>(['unauthenticated', 'forbidden', 'internal'])

const failed = { message: 'The run failed.', type: 'internal_error', details: '' }

/**
 * How a run failed, for callers without an account. They pay neither for the model nor the run, so
 * they are told nothing that a provider said: `details` is empty, and a `type` that is not one of our
 * codes (runs that were stored by earlier versions have some) becomes `internal_error`.
 */
export function publicRunError({ type, message, status_code: status }: RunError): RunError {
  const code = codeOf(type)
  if (code !== undefined) return { status_code: httpStatusOf[code], message, type, details: '' }
  return { ...failed, status_code: status === 503 || status === 504 ? status : 500 }
}

function codeOf(type: string): ErrorCode | undefined {
  if (isFailure(type)) return codeOfFailure[type]
  return errorCodes.find((code) => code === type && !notOfTheCaller.has(code))
}

function isFailure(type: string): type is keyof typeof codeOfFailure {
  return Object.hasOwn(codeOfFailure, type)
}
