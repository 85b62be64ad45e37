import type { ModelPrice } from '../../domain/model-prices.ts'
import { isJsonObject } from '../../domain/is-json-object.ts'
import { type ProviderKind, nativeKindOf } from '../../domain/provider-kinds.ts'
import type { ModelAbilities, ProvidedModel } from '../../domain/provided-models.ts'
import { isArray } from './foreign-values.ts'
import list from './known-models.json' with { type: 'json' }

const models: Record<string, unknown> = list

/** Servers of those who made the models: under the same name another server may have anything. */
const makers = new Set([
  'api.openai.com',
  'generativelanguage.googleapis.com',
  'api.mistral.ai',
  'api.deepseek.com',
  'api.x.ai',
])

/** Whether a name means the same model as in the list: at a server of others it may be any. */
export function isAtMaker({
  kind,
  baseUrl,
}: {
  kind?: ProviderKind | undefined
  baseUrl?: string | undefined
}): boolean {
  return nativeKindOf(kind) !== undefined || baseUrl === undefined || makers.has(new URL(baseUrl).hostname)
}

/** The window of a model in tokens, if it is in the list of known models. */
export function knownWindow(model: string): number | undefined {
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
  const facts = Object.hasOwn(models, model) && isJsonObject(models) ? models[model] : undefined
  return isArray(facts) ? facts : undefined
}
