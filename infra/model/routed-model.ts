import { cutText } from '../../domain/cut-text.ts'
import type { ModelCatalog } from '../../domain/model-catalog.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import {
  type ModelAbilities,
  type NativeKind,
  type ProvidedModel,
  nativeKindOf,
  providersOf,
} from '../../domain/model-providers.ts'
import type { ChatModel, ChatRequest, ModelDelta, PromptMessage } from '../../services/runs/chat-model.ts'
import { type ChatModelOptions, createChatModel } from './chat.ts'
import { abilitiesOf } from './known-models.ts'
import { isLeast } from './optional-members.ts'
import { withShownByTools } from './wire-messages.ts'

interface RoutedModelOptions {
  chat: ChatModel
  /** Say which providers there are. */
  models: { current(): Pick<ModelCatalog, 'providers'> }
  /** A model failed before it had answered anything, and another one is asked in its place. */
  onFallback(from: ProvidedModel, to: ProvidedModel, failure: ModelFailure): void
}

/** Failures that another server may not have. An invalid request would fail everywhere. */
const transientTypes = new Set<ModelFailure['type']>([
  'model_busy',
  'model_quota_exceeded',
  'model_credentials_refused',
  'model_connection_error',
  'model_timeout',
  'model_not_found',
  'model_error',
])

/**
 * Asks the provider that has the model. If it fails before any of its answer arrived, the next provider of the same
 * model is asked, then the models that the settings name as its fallbacks. Runs on a user's own account, and models
 * that no provider has, go where the request says. Providers whose model cannot do what the request needs are not
 * asked. A fallback that answers is named before its answer.
 */
export function createRoutedModel({ chat, models, onFallback }: RoutedModelOptions): ChatModel {
  return {
    async *stream(request) {
      const candidates = request.account.setByUser ? [] : providersOf(models.current().providers, request.model)
      if (candidates.length === 0) {
        if (request.account.apiKey === '') throw noProvider(request.model)
        yield* chat.stream(request)
        return
      }
      const able = candidates.filter((candidate) => unableTo(abilitiesOf(candidate), request) === undefined)
      const [first] = candidates
      if (able.length === 0 && first !== undefined)
        throw cannot(unableTo(abilitiesOf(first), request) ?? 'cannot answer this')
      for (const [index, candidate] of able.entries()) {
        let isAnswering = false
        try {
          for await (const delta of chat.stream(requestTo(candidate, request))) {
            if (!isAnswering && candidate.id !== request.model) yield { type: 'model', model: candidate.id }
            isAnswering = true
            yield delta
          }
          return
        } catch (error) {
          const next = able[index + 1]
          const canPass = error instanceof ModelFailure && transientTypes.has(error.type)
          if (isAnswering || next === undefined || !canPass || request.signal.aborted) throw error
          onFallback(candidate, next, error)
        }
      }
    },
  }
}

function requestTo(candidate: ProvidedModel, request: ChatRequest): ChatRequest {
  const { kind, apiKey, baseUrl, providerModel } = candidate
  const { pictures, thinking } = abilitiesOf(candidate)
  const messages = pictures === false ? withoutPictures(request.messages) : request.messages
  const { reasoning_effort: _effort, ...unthinking } = request.sampling
  const sampling = thinking === false ? unthinking : request.sampling
  return { ...request, messages, sampling, model: providerModel, account: { kind, apiKey, baseUrl, setByUser: false } }
}

function noProvider(model: string): ModelFailure {
  return new ModelFailure('No provider has the model of this assistant.', {
    statusCode: 502,
    type: 'model_error',
    details: `no provider has the model ${cutText(model, 200)}`,
    retryable: false,
  })
}

const unseen = { type: 'text' as const, text: '[A picture that this model cannot see.]' }

/** What the request asks of a model that cannot do it; undefined if it can, or nobody knows. */
function unableTo({ pictures, tools, thinking, json }: ModelAbilities, request: ChatRequest): string | undefined {
  const { responseFormat: format, sampling, setByCaller = [] } = request
  const newest = request.messages.findLast(({ role }) => role === 'user')
  if (pictures === false && newest !== undefined && hasPicture(newest)) return 'sees no pictures'
  if (json === false && format?.type === 'json_schema' && setByCaller.includes('response_format'))
    return 'writes no JSON by a schema'
  const effort = sampling.reasoning_effort
  if (thinking === false && setByCaller.includes('reasoning_effort') && !isLeast(effort ?? 'none'))
    return 'does not think'
  return tools === false && request.tools.length > 0 ? 'calls no tools' : undefined
}

/** Pictures of earlier messages and of results of tools become words for a model that sees none. */
function withoutPictures(messages: PromptMessage[]): PromptMessage[] {
  return withShownByTools(messages, false).map((message) =>
    message.role === 'user' && hasPicture(message) && typeof message.content !== 'string'
      ? { ...message, content: message.content.map((part) => (part.type === 'image_url' ? unseen : part)) }
      : message,
  )
}

function cannot(what: string): ModelFailure {
  return new ModelFailure(`The model ${what}.`, { statusCode: 400, type: 'model_refused_request', retryable: false })
}

function hasPicture(message: PromptMessage): boolean {
  return typeof message.content !== 'string' && !!message.content?.some(({ type }) => type === 'image_url')
}

/** Asks each account in the interface that its provider speaks. The native ones are loaded when they are needed. */
export function createModelByKind(options: ChatModelOptions): ChatModel {
  const compatible = createChatModel(options)
  const natives = new Map<NativeKind, Promise<ChatModel>>()

  function native(kind: NativeKind): Promise<ChatModel> {
    const known = natives.get(kind)
    if (known !== undefined) return known
    const loaded = import('./native/native-model.ts').then(({ createNativeModel }) => createNativeModel(kind, options))
    natives.set(kind, loaded)
    return loaded
  }

  async function* nativeAnswer(kind: NativeKind, request: ChatRequest): AsyncGenerator<ModelDelta> {
    yield* (await native(kind)).stream(request)
  }

  return {
    // Not a generator of its own: each piece of an answer would pass it.
    stream(request) {
      const kind = nativeKindOf(request.account.kind)
      return kind === undefined ? compatible.stream(request) : nativeAnswer(kind, request)
    },
  }
}
