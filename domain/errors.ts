/**
 * The error type of the service. Code that detects a problem throws an `AppError` with a stable code. The tables
 * below give each code its HTTP status and say whether Temporal may retry the activity. The compiler keeps both
 * tables complete.
 */
export const errorCodes = [
  'bad_request',
  'unauthenticated',
  'payment_required',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'not_acceptable',
  'request_timeout',
  'conflict',
  'payload_too_large',
  'unsupported_media_type',
  'invalid_input',
  'too_many_requests',
  'cancelled',
  'internal',
  'upstream_failed',
  'unavailable',
  'timed_out',
] as const

export type ErrorCode = (typeof errorCodes)[number]

export const httpStatusOf: Record<ErrorCode, number> = {
  bad_request: 400,
  unauthenticated: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  invalid_input: 422,
  too_many_requests: 429,
  cancelled: 499,
  internal: 500,
  upstream_failed: 502,
  unavailable: 503,
  timed_out: 504,
}

/** Whether an activity that fails with this code is retried. */
export const isRetryable: Record<ErrorCode, boolean> = {
  bad_request: false,
  unauthenticated: false,
  payment_required: false,
  forbidden: false,
  not_found: false,
  method_not_allowed: false,
  not_acceptable: false,
  request_timeout: false,
  conflict: false,
  payload_too_large: false,
  unsupported_media_type: false,
  invalid_input: false,
  too_many_requests: true,
  cancelled: false,
  internal: true,
  upstream_failed: true,
  unavailable: true,
  timed_out: true,
}

/** One problem of a request that does not match its schema, as the 422 body shows it. */
export interface FieldProblem {
  loc: (string | number)[]
  msg: string
  type: string
}

interface AppErrorOptions {
  /** Set for `invalid_input`: the members that are wrong. */
  fields?: FieldProblem[]
  /** Seconds after which the caller may retry; becomes `Retry-After`. */
  retryAfterSeconds?: number
  /** Extra response headers, such as `Allow`. */
  headers?: Record<string, string>
  cause?: unknown
}

/** For 4xx, callers see `message`; for 5xx it must not contain internals. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly fields: FieldProblem[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.fields = options.fields
    this.retryAfterSeconds = options.retryAfterSeconds
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return httpStatusOf[this.code]
  }
}

export function isNotFound(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'not_found'
}

/** Undefined in place of the error `not_found`. */
export async function ifFound<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** A 422 that names one member, for rules that a JSON schema cannot state. */
export function invalidInput(loc: (string | number)[], msg: string, type = 'value_error'): AppError {
  return new AppError('invalid_input', msg, { fields: [{ loc, msg, type }] })
}
