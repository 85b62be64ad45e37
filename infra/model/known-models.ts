import { isJsonObject } from '../../domain/is-json-object.ts'
import { nativeKindOf } from '../../domain/provider-kinds.ts'
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

/** The window of a model in tokens, if it is in the list of known models. */
export function knownWindow(model: string): number | undefined {
  const [window] = factsOf(model) ?? []
  return typeof window === 'number' && window > 0 ? window : undefined
}

/** What a model can do: what operators say, else what is known of it at its maker. */
export function abilitiesOf({
  kind,
  baseUrl,
  providerModel,
  abilities,
}: Pick<ProvidedModel, 'kind' | 'baseUrl' | 'providerModel' | 'abilities'>): ModelAbilities {
  const isAtMaker = nativeKindOf(kind) !== undefined || makers.has(new URL(baseUrl).hostname)
  const [, letters] = (isAtMaker ? factsOf(providerModel) : undefined) ?? []
  if (typeof letters !== 'string') return { ...abilities }
  const known = { pictures: letters.includes('p'), tools: letters.includes('t'), thinking: letters.includes('r') }
  return { ...known, ...abilities }
}

function factsOf(model: string): unknown[] | undefined {
  const facts = Object.hasOwn(models, model) && isJsonObject(models) ? models[model] : undefined
  return isArray(facts) ? facts : undefined
}
