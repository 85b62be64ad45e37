import { AppError } from '../../../domain/errors.ts'
import { parseForeignJson } from '../../../domain/foreign-json.ts'
import { isJsonObject } from '../../../domain/json.ts'
import { ModelFailure } from '../../../domain/model-failure.ts'
import { connectionFailure, failureOfAnswer, interrupted, statusByName } from '../failures.ts'

interface CallError extends Error {
  statusCode: number | undefined
  responseBody: string | undefined
  responseHeaders: Record<string, string> | undefined
}

/** An error of a provider package as a failure of the model. */
export function nativeFailure(error: unknown, apiKey: string): unknown {
  if (error instanceof ModelFailure) return error
  if (isCallError(error)) {
    const { statusCode, responseHeaders, cause } = error
    if (statusCode === undefined) return connectionFailure(error)
    // The answer had begun well.
    if (statusCode < 400) return cause instanceof ModelFailure ? cause : interrupted(unquoted(error))
    return failureOfAnswer(
      { status: statusCode, ...saidIn(error), headers: new Headers(responseHeaders), cause: error },
      apiKey,
    )
  }
  if (error instanceof Error && error.name === 'AI_UnsupportedFunctionalityError') return notTakenInput(error)
  // Of the guarded `fetch`: the address may not be reached, or leads elsewhere.
  if (error instanceof AppError) return connectionFailure(error)
  if (error instanceof Error) return interrupted(unquoted(error))
  return failedInStream(error, apiKey)
}

/** Errors of the packages whose messages have the whole event that they could not read. */
const quoting = new Set(['AI_TypeValidationError', 'AI_JSONParseError', 'AI_InvalidResponseDataError'])

/** Causes are logged, and answers and keys must not be. */
function unquoted(error: Error): Error {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (quoting.has(at.name)) return new Error('an event had another form than this interface has')
  return error
}

/** The words of a refusal. */
export function refusalText(error: unknown): string | undefined {
  return isCallError(error) && error.statusCode === 400 ? saidIn(error).message : undefined
}

function isCallError(error: unknown): error is CallError {
  return error instanceof Error && error.name === 'AI_APICallError'
}

/** What the provider said, as `guardFetch` has written it. */
function saidIn({ responseBody, message }: CallError): { message: string; code?: string } {
  const { error } = objectIn(responseBody)
  if (!isJsonObject(error)) return { message }
  const { code, type } = error
  return {
    message: typeof error['message'] === 'string' ? error['message'] : message,
    ...(typeof code === 'string' ? { code } : typeof type === 'string' ? { code: type } : {}),
  }
}

function objectIn(text: string | undefined): Record<string, unknown> {
  try {
    const value = parseForeignJson(text ?? '', { bytes: 64 * 1024 })
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

function failedInStream(error: unknown, apiKey: string): ModelFailure {
  const outer = isJsonObject(error) ? error : {}
  const inner = isJsonObject(outer['error']) ? outer['error'] : outer
  const names = [inner['code'], inner['type'], outer['type']].filter((name) => typeof name === 'string')
  const status = names.map((name) => statusByName[name]).find((known) => known !== undefined)
  const numeric = Number(inner['code'] ?? inner['status'])
  const [code] = names
  return failureOfAnswer(
    {
      status: status ?? (numeric >= 400 && numeric < 600 ? numeric : 502),
      message: (typeof error === 'string' ? error : (JSON.stringify(error) ?? '')).slice(0, 10_000),
      ...(code === undefined ? {} : { code }),
      cause: error,
    },
    apiKey,
  )
}

/** A picture, a sound or a file that the provider does not take. */
function notTakenInput(error: Error): ModelFailure {
  return new ModelFailure('The model refused the request.', {
    statusCode: 400,
    type: 'model_refused_request',
    details: error.message.slice(0, 1000),
    retryable: false,
    cause: error,
  })
}
