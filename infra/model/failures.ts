import { APIConnectionError, APIError, APIUserAbortError } from 'openai/core/error'
import { isJsonObject } from '../../domain/json.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { errorIn } from './error-body.ts'
import type { JsonObject } from './foreign-values.ts'

/**
 * The only place that decides whether a model's error is retried: 408, 409, 429, 5xx and broken connections are.
 * `apiKey` is the key that was used, so that it can be removed from what the server quotes.
 */
export function failureOf(error: unknown, apiKey: string): unknown {
  if (error instanceof ModelFailure || error instanceof APIUserAbortError) return error
  if (error instanceof APIConnectionError) return connectionFailure(error)
  if (error instanceof APIError) {
    const facts: { status?: number; headers?: Headers } = error
    const { status = statusIn(error.code, error.type), headers } = facts
    const { message, code } = error
    return failureOfAnswer({ status, message, code, headers, cause: error }, apiKey)
  }
  return interrupted(error)
}

/** The server could not be reached, or may not be. */
export function connectionFailure(error: Error): ModelFailure {
  return new ModelFailure('The model could not be reached.', {
    statusCode: 502,
    type: 'model_connection_error',
    retryable: !isRefusedAddress(error),
    cause: error,
  })
}

interface ErrorAnswer {
  status: number
  message: string
  code?: string | null | undefined
  headers?: Headers | undefined
  cause: unknown
}

/** The server answered with an error. */
export function failureOfAnswer({ status, message, code, headers, cause }: ErrorAnswer, apiKey: string): ModelFailure {
  const type = typeOf(status, { code, message })
  const isOurs = type === 'context_length_exceeded' || type === 'model_refused_request'
  const retryable = !isOurs && (status === 408 || status === 409 || status === 429 || status >= 500)
  return new ModelFailure(messageOf[type], {
    // Some servers fail with 500 over what is wrong with a request.
    statusCode: type === 'model_credentials_refused' ? 502 : isOurs && status >= 500 ? 400 : status,
    type,
    details: withoutKeys(message.startsWith(`${status} `) ? message : `${status} ${message}`, apiKey),
    retryable: retryable && type !== 'model_quota_exceeded',
    retryAfterMs: retryAfterMs(headers),
    cause,
  })
}

/** The stream ended in the middle of a chunk, or was not a stream of this API. */
export function interrupted(error: unknown): ModelFailure {
  return new ModelFailure("The model's answer was interrupted.", {
    statusCode: 502,
    type: 'model_connection_error',
    retryable: true,
    cause: error,
  })
}

/** An error in the middle of a stream has its status, or its name, as its code. */
function statusIn(...codes: unknown[]): number {
  for (const code of codes) {
    const status = Number(code)
    if (status >= 400 && status < 600) return status
    const named = typeof code === 'string' && Object.hasOwn(statusByName, code) ? statusByName[code] : undefined
    if (named !== undefined) return named
  }
  return 502
}

/** The statuses of errors that come within an answer, by their names at the providers. */
export const statusByName: Record<string, number> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  throttlingException: 429,
  RESOURCE_EXHAUSTED: 429,
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  invalid_request_error: 400,
  BadRequestError: 400,
  validationException: 400,
  serviceUnavailableException: 503,
  server_overloaded: 503,
  context_length_exceeded: 400,
  insufficient_quota: 402,
  model_not_found: 404,
}

/** What a server says of its failure in place of a part of an answer; undefined if the chunk says of none. */
export function saidFailure(chunk: JsonObject): unknown {
  const { object, type, success, base_resp: response, error, message, detail, errors, msg } = chunk
  if (isJsonObject(response) && response['status_code'])
    return { message: response['status_msg'], code: response['status_code'] }
  const isSaid = object === 'error' || type === 'error' || success === false || !!error
  const isAlone = 'id' in chunk || 'usage' in chunk || 'choices' in chunk
  if (!isSaid && (isAlone || (message ?? detail ?? errors ?? msg ?? undefined) === undefined)) return undefined
  return msg === undefined ? chunk : { ...chunk, message: msg }
}

/** A server's words about its failure, in any of the forms of errors, as a failure of an answer that had begun well. */
export function failureInAnswer(error: unknown, apiKey: string): ModelFailure {
  const { message = '', code, type } = errorIn(error) ?? {}
  const status = statusIn(code, type)
  return failureOfAnswer({ status, message: message || 'no words', code, cause: undefined }, apiKey)
}

function typeOf(status: number, error: { code?: string | null | undefined; message: string }) {
  if (error.code === 'insufficient_quota' || status === 402 || /credit balance is too low/i.test(error.message))
    return 'model_quota_exceeded'
  if (status === 429) return 'model_busy'
  if (status === 401 || status === 403 || /api key not valid/i.test(error.message)) return 'model_credentials_refused'
  if (isContextOverflow(error)) return 'context_length_exceeded'
  if (isUnknownModel(status, error)) return 'model_not_found'
  if (status === 500 && isTemplateRefusal(error.message)) return 'model_refused_request'
  // A wrong path is an error of the configuration.
  return status >= 500 || status === 404 ? 'model_error' : 'model_refused_request'
}

const messageOf: Record<ReturnType<typeof typeOf>, string> = {
  model_busy: 'The model is busy.',
  model_quota_exceeded: "The quota of the model's account is used up.",
  model_credentials_refused: 'The model refused our credentials.',
  model_refused_request: 'The model refused the request.',
  context_length_exceeded: 'The conversation is too long for the model.',
  model_not_found: 'The model server has no model of this name.',
  model_error: 'The model failed.',
}

/** The template of a model, or a server that was started without one, refuses what it is given with status 500. */
export function isTemplateRefusal(text: string): boolean {
  return (
    /chat.?template|prompt template|template error|template: ?:|jinja|raise_exception|unsupported param/i.test(text) ||
    rolesWords.test(text)
  )
}

/** About roles of messages: those of databases and clouds are no fault of the request. */
const rolesWords =
  /\broles? (?:must|should|is not|are not|not|are only|alternat)|\broles are supported|\b(?:conversation|message|system|user|assistant|tool|developer|last|first|expected|unexpected|unknown|invalid|unsupported|after)(?:'s|s)? roles?\b/i

/** Servers answer 404, also for a wrong path, or 400. */
function isUnknownModel(status: number, { code, message }: { code?: string | null | undefined; message: string }) {
  if (code === 'model_not_found') return true
  return status === 404 && /\bmodel\b.*(does not exist|not found)/is.test(message)
}

function isContextOverflow(error: { code?: string | null | undefined; message: string }): boolean {
  return error.code === 'context_length_exceeded' || overflowWords.test(error.message)
}

/** As providers and servers say it. */
const overflowWords =
  /max(?:imum)? context length|context[ _]window|context length|context size|context limit|prompt (?:is )?too long|input is too long|input token count|input tokens? exceed|input length.{0,40}exceed|prompt token count.{0,40}exceed|maximum prompt length|maximum model length|too many (?:input )?tokens|reduce the length of the (?:messages|prompt|input)|max_new_tokens. must be|must have less than \d+ tokens/i

function isRefusedAddress(error: unknown): boolean {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause.name === 'AddressRefusedError') return true
  }
  return false
}

/** Providers quote the key that they refuse, and the failure may be shown to a public caller. */
function withoutKeys(text: string, apiKey: string): string {
  // Of an access key, servers quote single parts: AWS the token of a session in the request that it wants signed.
  const parts = apiKey.split(':').filter((part) => part.length >= 16)
  return [apiKey, ...parts]
    .reduce((left, part) => (part === '' ? left : left.replaceAll(part, '[key]')), text)
    .replaceAll(/\b(?:sk|pk|key)[-_][\w*-]{4,}/gi, '[key]')
    .slice(0, 1000)
}

/** `Retry-After` (RFC 9110, seconds or a date), or the finer `retry-after-ms`; at most five minutes. */
export function retryAfterMs(headers: Headers | undefined): number | undefined {
  const exact = Number(headers?.get('retry-after-ms') ?? Number.NaN)
  const given = headers?.get('retry-after')
  const seconds = Number(given ?? Number.NaN)
  const ms = Number.isFinite(exact)
    ? exact
    : Number.isFinite(seconds)
      ? seconds * 1000
      : given
        ? Date.parse(given) - Date.now()
        : Number.NaN
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, 300_000) : undefined
}
