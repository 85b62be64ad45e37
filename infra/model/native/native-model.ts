import { randomUUID } from 'node:crypto'
import type { LanguageModelV4, LanguageModelV4StreamPart, SharedV4Warning } from '@ai-sdk/provider'
import { ModelFailure } from '../../../domain/model-failure.ts'
import { type NativeKind, usualBaseUrls } from '../../../domain/model-providers.ts'
import type { AnswerDelta, ChatModel, ChatRequest } from '../../../services/runs/chat-model.ts'
import { brokenOff, notTaken } from '../chat-failures.ts'
import type { OptionalMember } from '../dialects.ts'
import { member, objectsIn, rewrittenNumbers, withArgumentTexts } from '../foreign-values.ts'
import { type AnswerLimits, guardFetch } from '../guarded-fetch.ts'
import { changesNoAnswer } from '../optional-members.ts'
import { nativeOriginOf } from '../wire-messages.ts'
import { awsCredentials } from './aws-credentials.ts'
import { type RequestForm, callOptions } from './call-options.ts'
import { createNativeAnswer } from './native-answer.ts'
import { nativeFailure, refusalText } from './native-failures.ts'
import { nameFor } from './native-prompt.ts'

interface NativeModelOptions extends AnswerLimits {
  /** Reaches the servers that the settings name. */
  ownFetch: typeof fetch
  /** Reaches addresses that users set; refuses private ones. */
  guardedFetch: typeof fetch
}

/**
 * Models in the interfaces of their own providers. The packages do not retry: the workflow does. What a provider refuses
 * of an earlier answer, or of its thinking, is left out when it is asked again.
 */
export function createNativeModel(
  kind: NativeKind,
  { ownFetch, guardedFetch, silenceMs }: NativeModelOptions,
): ChatModel {
  return {
    async *stream({ account, ...request }) {
      const { apiKey, baseUrl = usualBaseUrls[kind], setByUser } = account
      if (baseUrl === undefined) throw noAddress(kind)
      const origin = nativeOriginOf(kind, { baseUrl, model: request.model })
      const unusable = unusableMember(request, kind)
      if (unusable !== undefined) throw notTaken(unusable)
      let form: RequestForm = { kind, origin, withMetadata: true, withEffort: true, withSummary: true }
      for (;;) {
        const exact = exactArguments(kind)
        const guard = guardFetch(setByUser ? guardedFetch : ownFetch, {
          silenceMs,
          form: kind === 'bedrock' ? 'frames' : 'events',
          rewrite: exact.rewrite,
        })
        let isAnswering = false
        try {
          const model = await openModel(kind, request.model, { apiKey, baseUrl, fetch: guard.fetch })
          const { stream } = await model.doStream(callOptions(request, form))
          for await (const delta of read(stream, { request, kind, origin, argumentsText: exact.restore })) {
            isAnswering = true
            yield delta
          }
          return
        } catch (error) {
          request.signal.throwIfAborted()
          const failure = nativeFailure(guard.failure ?? error, apiKey)
          const next =
            isAnswering || guard.failure !== undefined ? undefined : formAfter(refusalText(error), form, request)
          if (next === undefined) throw failure
          form = next
        } finally {
          guard.close()
        }
      }
    },
  }
}

async function* read(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  {
    request,
    kind,
    origin,
    argumentsText,
  }: {
    request: Omit<ChatRequest, 'account'>
    kind: NativeKind
    origin: string
    argumentsText(text: string): string
  },
): AsyncGenerator<AnswerDelta> {
  const answer = createNativeAnswer({
    names: new Map(request.tools.map(({ name }) => [nameFor(name, kind), name])),
    addSources: request.responseFormat === undefined,
    argumentsText,
  })
  for await (const part of stream) {
    if (part.type === 'error') throw part.error
    if (part.type === 'stream-start') {
      const unusable = warnedMember(part.warnings, request)
      if (unusable !== undefined) throw notTaken(unusable)
    }
    yield* answer.read(part)
  }
  if (!answer.finished) throw brokenOff()
  yield* answer.end()
  const { pieces } = answer
  if (pieces !== undefined) yield { type: 'provider', metadata: { origin, members: { pieces } } }
}

/** The form in which a provider is asked again after a refusal with this text; undefined if nothing can be left out. */
function formAfter(
  text: string | undefined,
  form: RequestForm,
  { messages, sampling, setByCaller = [] }: Omit<ChatRequest, 'account'>,
): RequestForm | undefined {
  if (text === undefined || !/thinking|reasoning|signature|encrypted/i.test(text)) return undefined
  if (form.withSummary && /summary/i.test(text)) return { ...form, withSummary: false }
  const hasMetadata = messages.some((message) => message.role === 'assistant' && message.provider !== undefined)
  if (form.withMetadata && hasMetadata) return { ...form, withMetadata: false }
  const canLoseEffort = sampling.reasoning_effort !== undefined && !setByCaller.includes('reasoning_effort')
  return form.withEffort && canLoseEffort ? { ...form, withEffort: false } : undefined
}

function noAddress(kind: NativeKind): ModelFailure {
  return new ModelFailure('The model server has no address.', {
    statusCode: 502,
    type: 'model_error',
    details: `a provider of the kind ${kind} needs a base URL`,
    retryable: false,
  })
}

/**
 * Google sends arguments as objects, and its package reads their numbers as doubles. Numbers that a double does not hold
 * pass it as marked texts, and are numbers again in the arguments of calls.
 */
function exactArguments(kind: NativeKind) {
  if (kind !== 'google') return { rewrite: withArgumentTexts, restore: (text: string) => text }
  const mark = `number ${randomUUID()} `
  const marked = new RegExp(`"${mark}(-?[0-9.eE+-]+)"`, 'g')
  return {
    rewrite: (data: string): string =>
      data.includes('"functionCall"')
        ? rewrittenNumbers(data, { within: argumentsIn, textOf: (source) => `${mark}${source}` })
        : data,
    restore: (text: string): string => text.replaceAll(marked, '$1'),
  }
}

/** The arguments of the calls in an event. */
function argumentsIn(event: unknown): unknown[] {
  return objectsIn(member(event, 'candidates'))
    .flatMap((candidate) => objectsIn(member(candidate['content'], 'parts')))
    .map((part) => member(part['functionCall'], 'args'))
}

type ModelRequest = Omit<ChatRequest, 'account'>

/** Members that the packages do not pass on. */
const notPassed: readonly OptionalMember[] = ['logit_bias', 'logprobs', 'top_logprobs']

/** The names of members in the warnings of the packages. */
const byFeature: Record<string, OptionalMember> = {
  temperature: 'temperature',
  topP: 'top_p',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  seed: 'seed',
  stopSequences: 'stop',
  responseFormat: 'response_format',
}

/** A member that the caller set, that changes the answer, and that no provider of this kind is sent. */
function unusableMember(request: ModelRequest, kind: NativeKind): OptionalMember | undefined {
  const isOpenai = kind === 'openai-responses' || kind === 'azure'
  return [...notPassed, ...(isOpenai ? [] : ['verbosity' as const])].find((name) => isDemanded(name, request))
}

/** The same, by what a package says about the request. */
function warnedMember(warnings: SharedV4Warning[], request: ModelRequest): OptionalMember | undefined {
  return warnings
    .flatMap((warning) => (warning.type === 'unsupported' ? (byFeature[warning.feature] ?? []) : []))
    .find((name) => isDemanded(name, request))
}

function isDemanded(name: OptionalMember, { setByCaller = [], temperature, sampling, model }: ModelRequest): boolean {
  const { service_tier: _tier, ...others } = sampling
  const body = { ...others, temperature, model, messages: [], stream: true as const }
  return setByCaller.includes(name) && !changesNoAnswer(name, body)
}

interface OpenOptions {
  apiKey: string
  baseUrl: string
  fetch: typeof fetch
}

/**
 * A model of one request. Key and address are always given, because the packages would read them from variables of the
 * environment otherwise.
 */
async function openModel(
  kind: NativeKind,
  model: string,
  { apiKey, baseUrl: baseURL, fetch }: OpenOptions,
): Promise<LanguageModelV4> {
  const settings = { apiKey, baseURL, fetch }
  switch (kind) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic(settings).languageModel(model)
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return createGoogle(settings).languageModel(model)
    }
    case 'openai-responses': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI(settings).responses(model)
    }
    case 'azure': {
      const { createAzure } = await import('@ai-sdk/azure')
      return createAzure(settings).responses(model)
    }
    case 'bedrock': {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock')
      const credentials = awsCredentials(apiKey, baseURL)
      return createAmazonBedrock({ baseURL, fetch, ...credentials }).languageModel(model)
    }
    case 'mistral': {
      const { createMistral } = await import('@ai-sdk/mistral')
      return createMistral(settings).languageModel(model)
    }
    case 'deepseek': {
      const { createDeepSeek } = await import('@ai-sdk/deepseek')
      return createDeepSeek(settings).languageModel(model)
    }
    case 'xai': {
      const { createXai } = await import('@ai-sdk/xai')
      return createXai(settings).responses(model)
    }
  }
}
