import { type ErrorCode, httpStatusOf } from './errors.ts'
import type { RunError } from './records/run.ts'
import { type RunErrorType, runErrorTypeOf } from './run-errors.ts'

/** What callers of the public API are told about each failure of a model or a run. */
const meanings = {
  model_busy: 'too_many_requests',
  model_quota_exceeded: 'unavailable',
  model_credentials_refused: 'upstream_failed',
  model_refused_request: 'bad_request',
  context_length_exceeded: 'bad_request',
  model_connection_error: 'upstream_failed',
  model_invalid_answer: 'upstream_failed',
  model_answer_too_long: 'upstream_failed',
  model_timeout: 'timed_out',
  model_not_found: 'upstream_failed',
  model_error: 'upstream_failed',
  max_steps: 'bad_request',
  max_prompt_tokens: 'bad_request',
  max_completion_tokens: 'bad_request',
  expired: 'timed_out',
  aborted: undefined,
  internal_error: undefined,
  // Their messages would be understood as being about the caller's own token or rights.
  unauthenticated: undefined,
  forbidden: undefined,
} as const satisfies Record<Exclude<RunErrorType, ErrorCode>, ErrorCode | undefined> &
  Partial<Record<ErrorCode, undefined>>

/** As the database returns it: any text. */
type StoredRunError = Omit<RunError, 'type'> & { type: string }

const failed = { message: 'The run failed.', type: 'internal_error', details: '' } as const

/**
 * The error of a run for callers without an account. They pay neither for the model nor for the run, so they see
 * nothing that a provider said: `details` is empty, and failures that they should not know, or that have no public
 * type, become `internal_error`.
 */
export function publicRunError({ type: given, message, status_code: status }: StoredRunError): RunError {
  const type = runErrorTypeOf(given)
  const code = isExplained(type) ? meanings[type] : type
  if (code !== undefined) return { status_code: httpStatusOf[code], message, type, details: '' }
  return { ...failed, status_code: status === 503 || status === 504 ? status : 500 }
}

/** Failures of which the provider's words say what the caller can change. */
const wordedTypes = ['model_refused_request', 'context_length_exceeded'] as const

/**
 * The same for the owner of the run, on interfaces whose errors have one message: what the model's server refuses, it
 * says in its own words.
 */
export function ownerRunError(error: StoredRunError): RunError {
  const shown = publicRunError(error)
  const message = error.details.replace(/^\d{3} /, '')
  if (message === '' || !wordedTypes.some((type) => type === shown.type)) return shown
  return { ...shown, message: `${shown.message} ${message}` }
}

function isExplained(type: RunErrorType): type is keyof typeof meanings {
  return Object.hasOwn(meanings, type)
}
