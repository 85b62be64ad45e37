import Type, { type Static } from 'typebox'
import type { AppError } from '../../domain/errors.ts'
import type { RunError } from '../../domain/records/run.ts'
import { ErrorDetail, ValidationError } from '../routes/schemas.ts'
import type { ErrorBody } from './errors.ts'

/** An error in OpenAI's format. */
export const CompatErrorObject = Type.Object(
  {
    message: Type.String(),
    type: Type.String(),
    param: Type.Union([Type.String(), Type.Null()]),
    code: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'CompatErrorObject' },
)
export type CompatErrorObject = Static<typeof CompatErrorObject>

const error = { error: CompatErrorObject }
export const CompatError = Type.Intersect([ErrorDetail, Type.Object(error)], { title: 'CompatError' })
export const CompatValidationError = Type.Intersect([ValidationError, Type.Object(error)], {
  title: 'CompatValidationError',
})

/** The refusals that routes of the compat family declare. */
export const compatRefusals = {
  400: CompatError,
  401: CompatError,
  402: CompatError,
  403: CompatError,
  404: CompatError,
  413: CompatError,
  422: CompatValidationError,
  429: CompatError,
  499: CompatError,
  500: CompatError,
  502: CompatError,
  503: CompatError,
  504: CompatError,
}

/** The error bodies of the compat family: our `detail`, and `error` in OpenAI's format. */
export function compatErrorBody(body: ErrorBody, error: AppError): ErrorBody & { error: CompatErrorObject } {
  const [field] = error.fields ?? []
  return {
    ...body,
    error: {
      message: field === undefined ? error.message : `${field.loc.join('.')}: ${field.msg}`,
      type: typeOf(error.status),
      param: field === undefined ? null : field.loc.slice(1).join('.'),
      code: isRunError(error.cause) ? error.cause.type : error.status === 401 ? 'invalid_api_key' : error.code,
    },
  }
}

/** The error of a run, for the middle of a stream. */
export function compatRunError({ message, type, status_code: status }: RunError): CompatErrorObject {
  return { message, type: typeOf(status), param: null, code: type }
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status < 500 ? 'invalid_request_error' : 'server_error'
}

function isRunError(value: unknown): value is RunError {
  return (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof Error) &&
    'status_code' in value &&
    'type' in value
  )
}
