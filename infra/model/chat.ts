import type OpenAI from 'openai'
import { isJsonObject } from '../../domain/is-json-object.ts'
import { type CutReason, type TokenLogprob, maxCallIndex } from '../../domain/messages.ts'
import { ModelFailure, type ModelFailureType } from '../../domain/model-failure.ts'
import type { Usage } from '../../domain/records/run.ts'
import type { AnswerDelta, ChatModel, ChatRequest } from '../../services/runs/chat-model.ts'
import { failureOf } from './failures.ts'
import { type AnswerLimits, guardFetch } from './guarded-fetch.ts'
import { openClient } from './open-client.ts'

/** Limits for one answer: its texts, and the ids, names and arguments of its calls. */
const maxAnswerBytes = 2 * 1024 * 1024
const maxArgumentsBytes = 1024 * 1024
const maxIdLength = 256
const maxNameLength = 128
const maxTokens = 1_000_000_000

export interface ChatModelOptions extends AnswerLimits {
  /** Reaches the servers that the settings name. */
  ownFetch: typeof fetch
  /** Reaches addresses that users set; refuses private ones. */
  guardedFetch: typeof fetch
}

/**
 * Models of the chat-completions interface, through the `openai` client, which is loaded with the first request.
 * Its own retries are off: the workflow retries, and remembers. Neither `fetch` follows redirects.
 */
export function createChatModel({ ownFetch, guardedFetch, silenceMs }: ChatModelOptions): ChatModel {
  return {
    async *stream({ account, signal, ...request }) {
      const guard = guardFetch(account.setByUser ? guardedFetch : ownFetch, { silenceMs })
      const answer = createAnswerReader()
      try {
        const { apiKey, baseUrl } = account
        const client = await openClient({ apiKey, baseUrl, fetch: guard.fetch, silenceMs })
        const chunks = await createWhereTaken(client, bodyOf(request), signal)
        for await (const chunk of chunks) yield* answer.read(chunk)
        if (!answer.finished) throw brokenOff()
      } catch (error) {
        signal.throwIfAborted()
        throw failureOf(guard.failure ?? error, account.apiKey)
      } finally {
        guard.close()
      }
    },
  }
}

/** What says who asks, and changes no answer: a server that does not know it is asked without. */
const aboutCaller = ['user', 'safety_identifier', 'prompt_cache_key'] as const

async function createWhereTaken(
  client: OpenAI,
  body: OpenAI.ChatCompletionCreateParamsStreaming,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> {
  try {
    return await client.chat.completions.create(body, { signal })
  } catch (error) {
    if (!aboutCaller.some((name) => body[name] !== undefined && isRefusedMember(error, name))) throw error
    const { user: _user, safety_identifier: _identifier, prompt_cache_key: _key, ...plain } = body
    return await client.chat.completions.create(plain, { signal })
  }
}

/** Strict servers answer 400 or 422 and name the member, in words or in a path. */
function isRefusedMember(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('status' in error)) return false
  const param = 'param' in error && typeof error.param === 'string' ? error.param : ''
  return (error.status === 400 || error.status === 422) && new RegExp(`\\b${name}\\b`).test(`${error.message} ${param}`)
}

function bodyOf(request: Omit<ChatRequest, 'account' | 'signal'>): OpenAI.ChatCompletionCreateParamsStreaming {
  return {
    model: request.model,
    messages: request.messages,
    stream: true,
    stream_options: { include_usage: true },
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { max_tokens: request.maxTokens }),
    ...samplingParams(request.sampling),
    ...formatParam(request.responseFormat),
    ...(request.logitBias === undefined ? {} : { logit_bias: request.logitBias }),
    ...toolParams(request),
  }
}

/** Servers have more tiers than the types of the client. */
function samplingParams(sampling: ChatRequest['sampling']): Partial<OpenAI.ChatCompletionCreateParamsStreaming> {
  const { service_tier: tier, ...others } = sampling
  return { ...others, ...(tier === undefined ? {} : { service_tier: tier as 'auto' }) }
}

/** Servers refuse a choice among tools without tools. */
function toolParams({
  tools,
  toolChoice,
  parallelToolCalls,
}: Pick<ChatRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'>): Pick<
  OpenAI.ChatCompletionCreateParams,
  'tools' | 'tool_choice' | 'parallel_tool_calls'
> {
  if (tools.length === 0) return {}
  return {
    tools: tools.map(toolParam),
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    ...(parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
  }
}

function toolParam({ name, description, parameters, strict }: ChatRequest['tools'][number]) {
  return {
    type: 'function' as const,
    function: {
      name,
      ...(description === '' ? {} : { description }),
      parameters: { ...parameters },
      ...(strict === undefined ? {} : { strict }),
    },
  }
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

type JsonObject = Record<string, unknown>

/**
 * Reads the chunks of a streamed answer. The server is not trusted: each chunk is checked before it is used, and
 * the size of the answer is limited. Throws `ModelFailure`, which names the member.
 */
export function createAnswerReader() {
  const argumentsBytes = new Map<number, number>()
  let answerBytes = 0
  let finished = false

  function count(text: string): number {
    const bytes = Buffer.byteLength(text)
    answerBytes += bytes
    if (answerBytes > maxAnswerBytes) throw tooLong(`is longer than ${maxAnswerBytes} bytes`)
    return bytes
  }

  function callDelta(value: unknown, at: string): AnswerDelta {
    const piece = objectAt(value, at) ?? {}
    const index = integerAt(piece['index'], `${at}.index`, maxCallIndex)
    if (index === undefined) throw invalid(`${at}.index is missing`)
    const called = objectAt(piece['function'], `${at}.function`) ?? {}
    const id = stringAt(piece['id'], `${at}.id`, maxIdLength)
    const name = stringAt(called['name'], `${at}.function.name`, maxNameLength)
    const args = stringAt(called['arguments'], `${at}.function.arguments`)
    count(`${id ?? ''}${name ?? ''}`)
    if (args) {
      const bytes = (argumentsBytes.get(index) ?? 0) + count(args)
      if (bytes > maxArgumentsBytes) throw tooLong(`has a call with arguments of more than ${maxArgumentsBytes} bytes`)
      argumentsBytes.set(index, bytes)
    }
    return { type: 'call', index, ...(id ? { id } : {}), ...(name ? { name } : {}), ...(args ? { args } : {}) }
  }

  return {
    read(value: unknown): AnswerDelta[] {
      const chunk = objectAt(value, 'a chunk')
      if (chunk === undefined) throw invalid('a chunk must be an object')
      const deltas: AnswerDelta[] = []
      const choice = objectAt(arrayAt(chunk['choices'], 'choices')?.[0], 'choices[0]')
      if (choice !== undefined) {
        const delta = objectAt(choice['delta'], 'choices[0].delta')
        const text = stringAt(delta?.['content'], 'choices[0].delta.content')
        if (text) {
          count(text)
          deltas.push({ type: 'text', text })
        }
        const refused = stringAt(delta?.['refusal'], 'choices[0].delta.refusal')
        if (refused) {
          count(refused)
          deltas.push({ type: 'refusal', text: refused })
        }
        const logprobs = objectAt(choice['logprobs'], 'choices[0].logprobs')
        const tokens = (arrayAt(logprobs?.['content'], 'choices[0].logprobs.content') ?? []).map((token) => {
          count(JSON.stringify(token) ?? '')
          return tokenAt(token, 'choices[0].logprobs.content')
        })
        if (tokens.length > 0) deltas.push({ type: 'logprobs', tokens })
        const calls = arrayAt(delta?.['tool_calls'], 'choices[0].delta.tool_calls') ?? []
        for (const [place, call] of calls.entries())
          deltas.push(callDelta(call, `choices[0].delta.tool_calls[${place}]`))
        const reason = stringAt(choice['finish_reason'], 'choices[0].finish_reason', maxNameLength)
        finished ||= reason !== undefined
        if (isCut(reason)) deltas.push({ type: 'cut', reason })
      }
      const usage = usageAt(chunk['usage'])
      if (usage !== undefined) deltas.push({ type: 'usage', usage })
      return deltas
    },
    /** Whether the model said that its answer is complete. */
    get finished() {
      return finished
    },
  }
}

function isCut(reason: string | undefined): reason is CutReason {
  return reason === 'length' || reason === 'content_filter'
}

const maxAlternatives = 20

function tokenAt(value: unknown, at: string): TokenLogprob {
  const alternatives = arrayAt(objectAt(value, at)?.['top_logprobs'], `${at}.top_logprobs`) ?? []
  return {
    ...logprobAt(value, at),
    top_logprobs: alternatives.slice(0, maxAlternatives).map((other) => logprobAt(other, `${at}.top_logprobs`)),
  }
}

function logprobAt(value: unknown, at: string): Omit<TokenLogprob, 'top_logprobs'> {
  const token = objectAt(value, at) ?? {}
  const logprob = token['logprob']
  if (typeof logprob !== 'number') throw invalid(`${at}.logprob must be a number`)
  const bytes = arrayAt(token['bytes'], `${at}.bytes`)?.map((byte) => integerAt(byte, `${at}.bytes`, 255) ?? 0) ?? null
  return { token: stringAt(token['token'], `${at}.token`, maxIdLength) ?? '', logprob, bytes }
}

function usageAt(value: unknown): Usage | undefined {
  const usage = objectAt(value, 'usage')
  if (usage === undefined) return undefined
  const prompt = integerAt(usage['prompt_tokens'], 'usage.prompt_tokens', maxTokens) ?? 0
  const completion = integerAt(usage['completion_tokens'], 'usage.completion_tokens', maxTokens) ?? 0
  const total = integerAt(usage['total_tokens'], 'usage.total_tokens', maxTokens) ?? prompt + completion
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total }
}

/** Servers leave members out, or send null for them: both become undefined. */
function objectAt(value: unknown, at: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw invalid(`${at} must be an object`)
  return value
}

/** `Array.isArray` without its `any`. */
function isArray(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

function arrayAt(value: unknown, at: string): unknown[] | undefined {
  if (value === undefined || value === null) return undefined
  if (!isArray(value)) throw invalid(`${at} must be an array`)
  if (value.length > maxCallIndex + 1) throw invalid(`${at} must not have more than ${maxCallIndex + 1} entries`)
  return value
}

function stringAt(value: unknown, at: string, maxLength = Number.POSITIVE_INFINITY): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalid(`${at} must be a string`)
  if (value.length > maxLength) throw invalid(`${at} must not be longer than ${maxLength} characters`)
  return value
}

function integerAt(value: unknown, at: string, max: number): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
    throw invalid(`${at} must be an integer from 0 to ${max}`)
  return value
}

function invalid(problem: string): ModelFailure {
  return refusal(`The model's server sent an answer that cannot be read: ${problem}.`, 'model_invalid_answer')
}

function tooLong(problem: string): ModelFailure {
  return refusal(`The model's answer ${problem}.`, 'model_answer_too_long')
}

/** The server would do the same again, so it is not retried. */
function refusal(message: string, type: ModelFailureType): ModelFailure {
  return new ModelFailure(message, { statusCode: 502, type, retryable: false })
}
