import Type, { type Static } from 'typebox'
import type { AppError, FieldProblem } from '../../domain/errors.ts'
import { largestOf } from '../../domain/extremes.ts'
import type { RunError } from '../../domain/records/run.ts'
import { ErrorDetail, ValidationError } from '../routes/schemas.ts'
import type { ErrorShape } from './errors.ts'

/** An error in OpenAI's format. */
export const CompatErrorObject = Type.Object(
  {
    message: Type.String(),
    type: Type.String(),
    param: Type.Union([Type.String(), Type.Null()]),
    code: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'CompatErrorObject', about: 'An error in the shape of OpenAI-compatible clients.' },
)
export type CompatErrorObject = Static<typeof CompatErrorObject>

const error = { error: CompatErrorObject }
export const CompatError = Type.Intersect([ErrorDetail, Type.Object(error)], {
  title: 'CompatError',
  about: 'An error, in our shape and in that of OpenAI-compatible clients.',
})
export const CompatValidationError = Type.Intersect([ValidationError, Type.Object(error)], {
  title: 'CompatValidationError',
  about: 'A request that does not match the declared shape, in both error shapes.',
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

/** The refusals of the compat family: our `detail`, and `error` in OpenAI's format. */
export const compatErrors: ErrorShape = {
  bodyOf: (body, error) => ({
    ...body,
    error: errorObject(error, error.fields?.[0], {
      nameOf: (loc) => loc.join('.'),
      code: isUnauthenticated(error) ? 'invalid_api_key' : error.code,
    }),
  }),
}

/** The error that `/v1` answers: that of OpenAI and nothing else. */
export const V1Error = Type.Object(error, { title: 'V1Error', about: "An error in the shape of OpenAI's interface." })

/**
 * The refusals of `/v1`, as applications for OpenAI expect them: a wrong member is 400, and `code` says what is wrong
 * with it.
 */
export const v1Errors: ErrorShape = {
  bodyOf: (_body, error) => {
    const shown = errorObject(error, innermostOf(error), { nameOf: pathOf, code: v1CodeOf(error) })
    if (!isUnknownModel(error)) return { error: shown }
    return { error: { ...shown, type: 'invalid_request_error', param: 'model' } }
  },
  statusOf: (error) =>
    error.code === 'invalid_input' ? 400 : isUnknownModel(error) ? 404 : isConnector(error) ? 424 : error.status,
  unknownRoute: (method, path) => `${method} ${path} is not offered here.`,
}

/** The caller has named the model that its server does not have; clients look for this before they try another one. */
function isUnknownModel({ cause }: AppError): boolean {
  return isRunError(cause) && cause.type === 'model_not_found'
}

/** A server that the request names cannot be asked. */
const isConnector = ({ fields = [] }: AppError) => fields.some(({ type }) => type === 'external_connector_error')

type Loc = (string | number)[]

/** Of the problems with several alternatives, the innermost is about the one that was meant. */
function innermostOf({ fields = [] }: AppError): FieldProblem | undefined {
  const depth = largestOf(fields.map(({ loc }) => loc.length))
  return fields.find(({ loc }) => loc.length === depth)
}

function errorObject(
  error: AppError,
  field: FieldProblem | undefined,
  { nameOf, code }: { nameOf: (loc: Loc) => string; code: string },
): CompatErrorObject {
  return {
    message: field === undefined ? error.message : `${nameOf(field.loc)}: ${field.msg}`,
    type: typeOf(error.status),
    param: field === undefined ? null : nameOf(field.loc.slice(1)),
    code: isRunError(error.cause) ? error.cause.type : code,
  }
}

/** `['body', 'tools', 0, 'type']` as `tools[0].type`. */
function pathOf(loc: Loc): string {
  const [first, ...rest] = loc[0] === 'body' && loc.length > 1 ? loc.slice(1) : loc
  return rest.reduce<string>(
    (place, part) => (typeof part === 'number' ? `${place}[${part}]` : `${place}.${part}`),
    String(first ?? ''),
  )
}

/** By the keyword of JSON Schema, or the kind of the rule, that a member breaks. */
const v1Codes = new Map([
  ['required', 'missing_required_parameter'],
  ['missing', 'missing_required_parameter'],
  ['additionalProperties', 'unknown_parameter'],
  ['unsupported', 'unsupported_parameter'],
  ['type', 'invalid_type'],
  ['model_not_found', 'model_not_found'],
  ['previous_response_not_found', 'previous_response_not_found'],
  ['external_connector_error', 'external_connector_error'],
])

function v1CodeOf(error: AppError): string {
  if (isUnauthenticated(error)) return 'invalid_api_key'
  const field = innermostOf(error)
  return field === undefined ? error.code : (v1Codes.get(field.type) ?? 'invalid_value')
}

const isUnauthenticated = (error: AppError) => error.status === 401

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
