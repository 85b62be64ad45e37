import OpenAI, { APIConnectionError, APIError, APIUserAbortError } from 'openai'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { ChatModel, ChatRequest, ModelAccount, ModelDelta } from '../../services/engine/chat-model.ts'

export interface ChatModelOptions {
  /** Reaches addresses that users set; refuses private ones. */
  guardedFetch: typeof fetch
}

/** Models of the chat-completions interface, through the `openai` client. Its own retries are off: Temporal retries, and remembers. */
export function createChatModel({ guardedFetch }: ChatModelOptions): ChatModel {
  const clients = new Map<string, OpenAI>()

  function clientFor(account: ModelAccount): OpenAI {
    const key = `${account.setByUser} ${account.baseUrl} ${account.apiKey}`
    const known = clients.get(key)
    if (known) return known
    const client = new OpenAI({
      apiKey: account.apiKey,
      baseURL: account.baseUrl ?? 'https://api.openai.com/v1',
      organization: null,
      project: null,
      maxRetries: 0,
      timeout: 10 * 60_000,
      ...(account.setByUser ? { fetch: guardedFetch } : {}),
    })
    if (clients.size >= 200) clients.clear()
    clients.set(key, client)
    return client
  }

  return {
    async *stream(request) {
      try {
        const chunks = await clientFor(request.account).chat.completions.create(bodyOf(request), {
          signal: request.signal,
        })
        let finished = false
        for await (const chunk of chunks) {
          finished ||= chunk.choices.some(
            (choice) => choice.finish_reason !== null && choice.finish_reason !== undefined,
          )
          yield* deltasOf(chunk)
        }
        if (!finished) throw brokenOff()
      } catch (error) {
        request.signal.throwIfAborted()
        throw failureOf(error, request.account.apiKey)
      }
    },
  }
}

function bodyOf(request: ChatRequest): OpenAI.ChatCompletionCreateParamsStreaming {
  return {
    model: request.model,
    messages: request.messages,
    stream: true,
    stream_options: { include_usage: true },
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { max_tokens: request.maxTokens }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolParam) }),
  }
}

function toolParam({ name, description, parameters }: ChatRequest['tools'][number]): OpenAI.ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: { ...parameters } } }
}

function* deltasOf(chunk: OpenAI.ChatCompletionChunk): Generator<ModelDelta> {
  const delta = chunk.choices[0]?.delta
  if (delta?.content) yield { type: 'text', text: delta.content }
  for (const call of delta?.tool_calls ?? []) {
    yield {
      type: 'call',
      index: call.index,
      ...(call.id ? { id: call.id } : {}),
      ...(call.function?.name ? { name: call.function.name } : {}),
      ...(call.function?.arguments ? { args: call.function.arguments } : {}),
    }
  }
  const reason = chunk.choices[0]?.finish_reason
  if (reason === 'length' || reason === 'content_filter') yield { type: 'cut', reason }
  if (chunk.usage) {
    const { prompt_tokens, completion_tokens, total_tokens } = chunk.usage
    yield { type: 'usage', usage: { prompt_tokens, completion_tokens, total_tokens } }
  }
}

function brokenOff(): ModelFailure {
  return new ModelFailure("The model's answer broke off.", {
    statusCode: 502,
    type: 'model_connection_error',
    retryable: true,
  })
}

/**
 * The one place that decides whether a model's error is worth another try: 408, 409, 429, 5xx and
 * broken connections are. `apiKey` is the key that was used: what the server quotes of it is blanked.
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
    return new ModelFailure(messageFor(status), {
      statusCode: status === 401 || status === 403 ? 502 : status,
      type: isContextOverflow(error) ? 'context_length_exceeded' : (error.type ?? 'model_error'),
      details: withoutKeys(`${status} ${error.message}`, apiKey),
      retryable: retryable && error.code !== 'insufficient_quota',
      retryAfterMs: retryAfterMs(headers),
      cause: error,
    })
  }
  // The stream ended in the middle of a chunk, or was no stream of this interface.
  return new ModelFailure("The model's answer broke off.", {
    statusCode: 502,
    type: 'model_connection_error',
    retryable: true,
    cause: error,
  })
}

function messageFor(status: number): string {
  if (status === 429) return 'The model is busy.'
  if (status === 401 || status === 403) return 'The model refused our credentials.'
  if (status >= 500) return 'The model failed.'
  return 'The model refused the request.'
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
  return text
    .replaceAll(apiKey, '[key]')
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
