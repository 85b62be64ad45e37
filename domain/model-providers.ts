/**
 * The interfaces that providers of models speak. `openai-compatible` is chat completions; the others are the providers'
 * own, except `openai-responses`, which is the newer one of OpenAI.
 */
export const providerKinds = [
  'openai-compatible',
  'openai-responses',
  'azure',
  'anthropic',
  'google',
  'bedrock',
  'mistral',
  'deepseek',
  'xai',
] as const
export type ProviderKind = (typeof providerKinds)[number]
export type NativeKind = Exclude<ProviderKind, 'openai-compatible'>

/** What a provider is that names no kind. */
export const usualKind = 'openai-compatible' as const

/** Where providers are that have one address for everybody. */
export const usualBaseUrls: Partial<Record<ProviderKind, string>> = {
  'openai-responses': 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  mistral: 'https://api.mistral.ai/v1',
  deepseek: 'https://api.deepseek.com',
  xai: 'https://api.x.ai/v1',
}

/** The kind as a native one; undefined for chat completions. */
export function nativeKindOf(kind: ProviderKind | undefined): NativeKind | undefined {
  return kind === undefined || kind === 'openai-compatible' ? undefined : kind
}

/** One model at one provider. */
export interface ProvidedModel {
  /** The name by which assistants choose it. */
  id: string
  provider: string
  /** The provider's own name of it. */
  providerModel: string
  /** Default: `openai-compatible`. */
  kind?: ProviderKind | undefined
  baseUrl: string
  apiKey: string
  contextTokens: number | undefined
  /** What operators say of it. */
  abilities?: ModelAbilities
}

/** What a model can do. Absent: not known. */
export interface ModelAbilities {
  pictures?: boolean
  tools?: boolean
  thinking?: boolean
  /** Writes JSON by a schema. */
  json?: boolean
}

export const abilityNames = ['pictures', 'tools', 'thinking', 'json'] as const

/** What operators say of a model, as it is stored and in settings. */
export function abilitiesIn(said: { [N in keyof ModelAbilities]?: boolean | undefined }): ModelAbilities {
  const abilities: ModelAbilities = {}
  for (const name of abilityNames) {
    const can = said[name]
    if (can !== undefined) abilities[name] = can
  }
  return abilities
}

export interface ProviderSettings {
  /** In the order of the settings. A name that several providers have occurs once for each of them. */
  models: ProvidedModel[]
  /** By a model's name: models that are asked in its place, in this order, while it fails. */
  fallbacks: ReadonlyMap<string, readonly string[]>
}

export const noProviders: ProviderSettings = { models: [], fallbacks: new Map() }

/** The providers to ask for a model, in order: its own, then those of its fallbacks. Empty if no provider has it. */
export function providersOf({ models, fallbacks }: ProviderSettings, model: string): ProvidedModel[] {
  return [model, ...(fallbacks.get(model) ?? [])].flatMap((id) => models.filter((one) => one.id === id))
}
