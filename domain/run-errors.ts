import { type ErrorCode, errorCodes } from './errors.ts'
import { type ModelFailureType, modelFailureTypes } from './model-failure.ts'

/**
 * Every way in which a run can fail: an error of the service, of the model, or of the run itself.
 * `internal_error` stands for whatever has no name of its own.
 */
export const runErrorTypes = [
  ...errorCodes.filter((code) => code !== 'internal'),
  ...modelFailureTypes,
  'max_steps',
  'aborted',
  'internal_error',
] as const

export type RunErrorType =
  | Exclude<ErrorCode, 'internal'>
  | ModelFailureType
  /** The run reached its limit of model calls. */
  | 'max_steps'
  /** The run's workflow was terminated, or failed. */
  | 'aborted'
  | 'internal_error'

/** The type that a failure, or a run stored by an earlier version, names; `internal_error` for any other text. */
export function runErrorTypeOf(text: string | null | undefined): RunErrorType {
  // Earlier versions had a second name for the same failure.
  if (text === 'timeout') return 'timed_out'
  return runErrorTypes.find((type) => type === text) ?? 'internal_error'
}
