import Type from 'typebox'
import { Value } from 'typebox/value'
import { AnyKey } from '../../domain/any-key.ts'
import { noKey } from '../../domain/model-catalog.ts'
import {
  type ProviderSettings,
  abilitiesIn,
  noProviders,
  providerKinds,
  usualBaseUrls,
  usualKind,
} from '../../domain/model-providers.ts'

const name = Type.String({ minLength: 1, maxLength: 200 })

const Model = Type.Object(
  {
    /** The name by which assistants choose the model. */
    id: name,
    /** The provider's own name, if it differs. */
    provider_model: Type.Optional(name),
    context_tokens: Type.Optional(Type.Integer({ minimum: 256, maximum: 100_000_000 })),
    /** What it can do; default: what is known of it. */
    pictures: Type.Optional(Type.Boolean()),
    tools: Type.Optional(Type.Boolean()),
    thinking: Type.Optional(Type.Boolean()),
    json: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

const Provider = Type.Object(
  {
    name,
    /** The interface that it speaks. */
    kind: Type.Optional(Type.Enum([...providerKinds])),
    /** May be left out for kinds that have one address for everybody. */
    base_url: Type.Optional(Type.String({ pattern: '^https?://', maxLength: 2000 })),
    /** The setting with the key, which may be read from a file (`NAME_FILE`). Without it no key is sent. */
    api_key_env: Type.Optional(Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,99}$' })),
    models: Type.Array(Model, { minItems: 1, maxItems: 200 }),
  },
  { additionalProperties: false },
)

const ModelsFile = Type.Object(
  {
    providers: Type.Array(Provider, { minItems: 1, maxItems: 50 }),
    /** By a model's name: models that are asked in its place, in this order, while it fails. */
    fallbacks: Type.Optional(Type.Record(AnyKey, Type.Array(name, { maxItems: 10 }))),
  },
  { additionalProperties: false },
)

/** Reads the text of the setting `MODELS`. `problem` gets each fault, with its place and without values. */
export function readProviders(
  text: string,
  { keyOf, problem }: { keyOf(variable: string): string | undefined; problem(message: string): void },
): ProviderSettings {
  const file = parse(text)
  if (!Value.Check(ModelsFile, file)) {
    const [error] = file === undefined ? [] : Value.Errors(ModelsFile, file)
    problem(error ? `is wrong at ${error.instancePath || 'its top'}: ${error.message}` : 'is not JSON')
    return noProviders
  }
  const models = file.providers.flatMap((provider) => {
    const key = provider.api_key_env === undefined ? noKey : keyOf(provider.api_key_env)
    if (key === undefined)
      problem(`names the key ${provider.api_key_env} of provider ${provider.name}, which is not set`)
    const baseUrl = provider.base_url ?? usualBaseUrls[provider.kind ?? usualKind]
    if (baseUrl === undefined) problem(`gives no base_url for provider ${provider.name}`)
    return provider.models.map((model) => ({
      id: model.id,
      provider: provider.name,
      providerModel: model.provider_model ?? model.id,
      kind: provider.kind ?? usualKind,
      baseUrl: (baseUrl ?? '').replace(/\/+$/, ''),
      apiKey: key ?? noKey,
      contextTokens: model.context_tokens,
      abilities: abilitiesIn(model),
    }))
  })
  const known = new Set(models.map(({ id }) => id))
  const fallbacks = new Map(Object.entries(file.fallbacks ?? {}))
  for (const [model, others] of fallbacks)
    for (const other of [model, ...others])
      if (!known.has(other)) problem(`names ${other} in fallbacks, which no provider has`)
  return { models, fallbacks }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
