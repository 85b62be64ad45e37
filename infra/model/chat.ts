import { APIConnectionError, APIError, APIUserAbortError } from 'openai/core/error'
import type OpenAI from 'openai'
import { type Dispatcher, request as send } from 'undici'
import { isJsonObject } from '../../domain/is-json-object.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { ChatModel, ChatRequest, ModelDelta } from '../../services/engine/chat-model.ts'
import { createAnswerReader } from './answer-reader.ts'
import { type AnswerLimits, guardAnswer } from './guarded-answer.ts'

export const defaultBaseUrl = 'https://api.openai.com/v1'

export interface ChatModelOptions extends AnswerLimits {
  /** Connections to the servers that the settings name. */
  connections: Dispatcher
  /** Connections to addresses that users set; it refuses private ones. */
  guardedConnections: Dispatcher
}

/**
 * Models of the chat-completions interface. There are no retries here: the workflow retries, and remembers.
 * A redirect is an error: a model's address is the one that was checked.
 */
export function createChatModel({ connections, guardedConnections, silenceMs }: ChatModelOptions): ChatModel {
  return {
    async *stream({ account, signal, ...request }) {
      const guard = guardAnswer({ silenceMs })
      const answer = createAnswerReader()
      let hasAnswered = false
      try {
        const { statusCode, headers, body } = await send(urlOf(account.baseUrl ?? defaultBaseUrl), {
          dispatcher: account.setByUser ? guardedConnections : connections,
          method: 'POST',
          headers: {
            authorization: `Bearer ${account.apiKey}`,
            'content-type': 'application/json',
            accept: 'text/event-stream',
          },
          body: JSON.stringify(bodyOf(request)),
          signal: AbortSignal.any([signal, guard.signal]),
        })
        hasAnswered = true
        const facts = headersOf(headers)
        if (statusCode < 200 || statusCode > 299) throw refusal(statusCode, await guard.errorText(body), facts)
        for await (const events of guard.events(body)) yield* deltasOf(events, answer, facts)
        if (!answer.finished) throw brokenOff()
      } catch (error) {
        signal.throwIfAborted()
        throw failureOf(guard.failure ?? (hasAnswered ? error : unreachable(error)), account.apiKey)
      } finally {
        guard.close()
      }
    },
  }
}

function urlOf(baseUrl: string): string {
  return `${baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl}/chat/completions`
}

/** What the events say; pieces of text that came together are one. What was said before a mistake is handed on. */
function* deltasOf(
  events: string[],
  answer: ReturnType<typeof createAnswerReader>,
  headers: Headers,
): Generator<ModelDelta> {
  let text = ''
  try {
    for (const event of events) {
      if (event.startsWith('[DONE]')) break
      const chunk: unknown = JSON.parse(event)
      if (isJsonObject(chunk) && chunk['error']) throw new APIError(undefined, errorObject(chunk), undefined, headers)
      for (const delta of answer.read(chunk)) {
        if (delta.type === 'text') {
          text += delta.text
          continue
        }
        if (text !== '') yield { type: 'text', text }
        text = ''
        yield delta
      }
    }
  } catch (error) {
    if (text !== '') yield { type: 'text', text }
    throw error
  }
  if (text !== '') yield { type: 'text', text }
}

function refusal(statusCode: number, text: string, headers: Headers): APIError {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  return APIError.generate(statusCode, isJsonObject(body) ? body : undefined, text, headers)
}

function errorObject({ error }: Record<string, unknown>): object {
  return typeof error === 'object' && error !== null ? error : { message: error }
}

function headersOf(headers: Dispatcher.ResponseData['headers']): Headers {
  return new Headers(
    Object.entries(headers).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, value]),
    ),
  )
}

/** No answer came: whatever went wrong, it went wrong on the way. */
function unreachable(cause: unknown): unknown {
  return new APIConnectionError({ message: 'Connection error.', ...(cause instanceof Error ? { cause } : {}) })
}

function bodyOf(request: Omit<ChatRequest, 'account' | 'signal'>): OpenAI.ChatCompletionCreateParamsStreaming {
  return {
    model: request.model,
    messages: request.messages,
    stream: true,
    stream_options: { include_usage: true },
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { max_tokens: request.maxTokens }),
    ...request.sampling,
    ...formatParam(request.responseFormat),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolParam) }),
  }
}

function toolParam({ name, description, parameters }: ChatRequest['tools'][number]): OpenAI.ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: { ...parameters } } }
}

function formatParam(
  format: ChatRequest['responseFormat'],
): Pick<OpenAI.ChatCompletionCreateParams, 'response_format'> {
  if (format?.type === 'json_object') return { response_format: { type: 'json_object' } }
  if (format?.json_schema === undefined) return {}
  return { response_format: { type: 'json_schema', json_schema: format.json_schema } }
}

function brokenOff(): ModelFailure {
  return new ModelFailure("The model's answer was interrupted.", {
    statusCode: 502,
    type: 'model_connection_error',
    retryable: true,
  })
}

/**
 * The only place that decides whether a model's error is retried: 408, 409, 429, 5xx and broken connections are.
 * `apiKey` is the key that was used, so that it can be removed from what the server quotes.
 */
export function failureOf(error: unknown, apiKey: string): unknown {
  if (error instanceof ModelFailure || error instanceof APIUserAbortError) return error
  if (error instanceof APIConnectionError) {
    return new ModelFailure('The model could not be reached.', {
      statusCode: 502,
      type: 'model_connection_error',
      retryable: !isRefusedAddress(error),
      cause: error,
    })
  }
  if (error instanceof APIError) {
    const facts: { status?: number; headers?: Headers } = error
    const { status = 502, headers } = facts
    const retryable = status === 408 || status === 409 || status === 429 || status >= 500
    const type = typeOf(status, error)
    return new ModelFailure(messageOf[type], {
      statusCode: type === 'model_credentials_refused' ? 502 : status,
      type,
      details: withoutKeys(`${status} ${error.message}`, apiKey),
      retryable: retryable && type !== 'model_quota_exceeded',
      retryAfterMs: retryAfterMs(headers),
      cause: error,
    })
  }
  // The stream ended in the middle of a chunk, or was not a stream of this API.
  return new ModelFailure("The model's answer was interrupted.", {
    statusCode: 502,
    type: 'model_connection_error',
    retryable: true,
    cause: error,
  })
}

function typeOf(status: number, error: { code?: string | null | undefined; message: string }) {
  if (error.code === 'insufficient_quota' || status === 402) return 'model_quota_exceeded'
  if (status === 429) return 'model_busy'
  if (status === 401 || status === 403) return 'model_credentials_refused'
  if (isContextOverflow(error)) return 'context_length_exceeded'
  // A wrong path or model name is an error of the configuration.
  return status >= 500 || status === 404 ? 'model_error' : 'model_refused_request'
}

const messageOf: Record<ReturnType<typeof typeOf>, string> = {
  model_busy: 'The model is busy.',
  model_quota_exceeded: "The quota of the model's account is used up.",
  model_credentials_refused: 'The model refused our credentials.',
  model_refused_request: 'The model refused the request.',
  context_length_exceeded: 'The conversation is too long for the model.',
  model_error: 'The model failed.',
}

function isContextOverflow(error: { code?: string | null | undefined; message: string }): boolean {
  return error.code === 'context_length_exceeded' || /maximum context length|context window/i.test(error.message)
}

function isRefusedAddress(error: { cause?: unknown }): boolean {
  for (let cause: unknown = error.cause, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause.name === 'AddressRefusedError') return true
  }
  return false
}

/** Providers quote the key that they refuse, and the failure may be shown to a public caller. */
function withoutKeys(text: string, apiKey: string): string {
  return (apiKey === '' ? text : text.replaceAll(apiKey, '[key]'))
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
