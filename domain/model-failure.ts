/** Why a model gave no answer. `message` is fit for the caller and free of keys. */
export class ModelFailure extends Error {
  readonly statusCode: number
  readonly type: string
  readonly details: string
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    facts: {
      statusCode: number
      type: string
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
