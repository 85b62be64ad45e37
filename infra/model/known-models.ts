import * as models from 'gpt-tokenizer/models'
import { smallestOf } from '../../domain/extremes.ts'
import { isJsonObject } from '../../domain/json.ts'
import type { ModelPrice } from '../../domain/model-prices.ts'
import {
  type ModelAbilities,
  type ProvidedModel,
  type ProviderKind,
  nativeKindOf,
  providersOf,
} from '../../domain/model-providers.ts'
import type { ModelsNow } from '../../services/models/live-models.ts'
import { isArray } from './foreign-values.ts'
import list from './known-models.json' with { type: 'json' }

const makersModels: Record<string, unknown> = list

/** Servers of those who made the models: under the same name another server may have anything. */
const makers = new Set([
  'api.openai.com',
  'generativelanguage.googleapis.com',
  'api.mistral.ai',
  'api.deepseek.com',
  'api.x.ai',
])

/** Whether a name means the same model as in the list: at a server of others it may be any. */
function isAtMaker({ kind, baseUrl }: { kind?: ProviderKind | undefined; baseUrl?: string | undefined }): boolean {
  return nativeKindOf(kind) !== undefined || baseUrl === undefined || makers.has(new URL(baseUrl).hostname)
}

/** The window of a model in tokens, if it is in the list of known models. */
function knownWindow(model: string): number | undefined {
  const [window] = factsOf(model) ?? []
  return typeof window === 'number' && window > 0 ? window : undefined
}

/**
 * What a model can do: what operators say, else what is known of it at its maker. That the list names no ability does
 * not say that the model lacks it: of many models the list is silent.
 */
export function abilitiesOf({
  kind,
  baseUrl,
  providerModel,
  abilities,
}: Pick<ProvidedModel, 'kind' | 'baseUrl' | 'providerModel' | 'abilities'>): ModelAbilities {
  const [, letters] = (isAtMaker({ kind, baseUrl }) ? factsOf(providerModel) : undefined) ?? []
  if (typeof letters !== 'string') return { ...abilities }
  return {
    ...(letters.includes('p') ? { pictures: true } : {}),
    ...(letters.includes('t') ? { tools: true } : {}),
    ...(letters.includes('r') ? { thinking: true } : {}),
    ...(letters.includes('j') ? { json: true } : {}),
    ...abilities,
  }
}

/** What a million tokens of a model cost at its maker, in US dollars. */
export function listedPriceOf({
  kind,
  baseUrl,
  providerModel,
}: Pick<ProvidedModel, 'kind' | 'providerModel'> & { baseUrl: string }): ModelPrice | undefined {
  const isMaker = isAtMaker({ kind, baseUrl: baseUrl === '' ? undefined : baseUrl })
  const [, , input, output, cached, written] = (isMaker ? factsOf(providerModel) : undefined) ?? []
  if (typeof input !== 'number' || typeof output !== 'number') return undefined
  return {
    input,
    output,
    ...(typeof cached === 'number' ? { cached_input: cached } : {}),
    ...(typeof written === 'number' ? { cache_write: written } : {}),
  }
}

function factsOf(model: string): unknown[] | undefined {
  const facts = Object.hasOwn(makersModels, model) && isJsonObject(makersModels) ? makersModels[model] : undefined
  return isArray(facts) ? facts : undefined
}

/**
 * The context window of a model in tokens, for the models that the tokenizer's authors list, and at their makers for those
 * that ours lists; else `fallback`. `server`: where it is asked.
 */
export function contextWindowOf(model: string, fallback: number, server: Parameters<typeof isAtMaker>[0] = {}): number {
  return listedWindow(model, server) ?? fallback
}

/**
 * The window of the model that an assistant names, as the settings are now: the smallest among those that may be asked, so
 * that the conversation fits each of them. `fallback`: of a model whose window nobody knows.
 */
export function createContextWindows(models: ModelsNow, fallback: number) {
  return (model: string): number => {
    const { providers, account } = models.current()
    const candidates = providersOf(providers, model)
    if (candidates.length === 0) return contextWindowOf(model, fallback, account)
    const windowOf = (candidate: ProvidedModel) =>
      candidate.contextTokens ?? contextWindowOf(candidate.providerModel, fallback, candidate)
    return smallestOf(candidates.map(windowOf))
  }
}

/** Whether the tokenizer's authors list the model. */
export function isListedModel(model: string): boolean {
  return listedWindow(model, {}) !== undefined
}

function listedWindow(model: string, server: Parameters<typeof isAtMaker>[0]): number | undefined {
  const known: unknown = Reflect.get(models, model)
  if (typeof known !== 'object' || known === null || !('context_window' in known))
    return isAtMaker(server) ? knownWindow(model) : undefined
  return typeof known.context_window === 'number' ? known.context_window : undefined
}
