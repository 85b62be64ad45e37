/**
 * Why a model gave no answer, in the service's own codes. Clients rely on these codes, so a provider's error codes
 * never replace them. `domain/public-run-error.ts` says what public callers are told.
 */
export const modelFailureTypes = [
  'model_busy',
  'model_quota_exceeded',
  'model_credentials_refused',
  'model_refused_request',
  'context_length_exceeded',
  'model_connection_error',
  'model_timeout',
  'model_invalid_answer',
  'model_answer_too_long',
  'model_not_found',
  'model_error',
] as const
export type ModelFailureType = (typeof modelFailureTypes)[number]

export function isModelFailureType(type: string): type is ModelFailureType {
  return modelFailureTypes.some((known) => known === type)
}

/**
 * `message` and `type` are written by the service and may be shown to every caller. `details` may quote the
 * provider, without keys, and is only for the owner of the run.
 */
export class ModelFailure extends Error {
  readonly statusCode: number
  readonly type: ModelFailureType
  readonly details: string
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    facts: {
      statusCode: number
      type: ModelFailureType
      details?: string
      retryable: boolean
      retryAfterMs?: number | undefined
      cause?: unknown
    },
  ) {
    super(message, { cause: facts.cause })
    this.name = 'ModelFailure'
    this.statusCode = facts.statusCode
    this.type = facts.type
    this.details = facts.details ?? ''
    this.retryable = facts.retryable
    this.retryAfterMs = facts.retryAfterMs
  }
}
