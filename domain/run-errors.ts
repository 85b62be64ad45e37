import { type ErrorCode, errorCodes } from './errors.ts'
import { type ModelFailureType, modelFailureTypes } from './model-failure.ts'

/**
 * All types of run errors: errors of the service, of the model, or of the run itself. `internal_error` is used for
 * everything else.
 */
export const runErrorTypes = [
  ...errorCodes.filter((code) => code !== 'internal'),
  ...modelFailureTypes,
  'max_steps',
  'max_prompt_tokens',
  'max_completion_tokens',
  'expired',
  'aborted',
  'internal_error',
] as const

export type RunErrorType =
  | Exclude<ErrorCode, 'internal'>
  | ModelFailureType
  /** The run reached its limit of model calls. */
  | 'max_steps'
  /** The run used up its limit of tokens. */
  | 'max_prompt_tokens'
  | 'max_completion_tokens'
  /** Nobody decided about a call, or sent the results of functions, in time. */
  | 'expired'
  /** The run's workflow failed or was terminated. */
  | 'aborted'
  | 'internal_error'

/** The type that a failure, or a run of an archive, names; `internal_error` for any other text. */
export function runErrorTypeOf(text: string | null | undefined): RunErrorType {
  return runErrorTypes.find((type) => type === text) ?? 'internal_error'
}
