import { parseOwnJson } from '../../domain/json.ts'
import type { EnvironmentModels, ModelCatalog } from '../../domain/model-catalog.ts'
import { noKey } from '../../domain/model-catalog.ts'
import { type MinutePrices, type ModelPrice, noPrices, parseModelPrices } from '../../domain/model-prices.ts'
import {
  type ModelAbilities,
  type ProvidedModel,
  type ProviderKind,
  abilitiesIn,
  abilityNames,
  usualKind,
} from '../../domain/model-providers.ts'
import type { ModelServerRecord, ModelSettingsRecord } from '../../domain/records/model-settings.ts'
import type { SecretBox } from '../secrets.ts'
import type { ServerAccount } from './model-servers.ts'
import { keyOf } from './stored-models.ts'

/** Where something was set. What the environment says cannot be changed on the model page. */
export type ModelSource = 'environment' | 'stored' | 'found' | 'demo' | 'automatic'

interface ServerView {
  server_id: string
  name: string
  kind: ProviderKind
  base_url: string | null
  source: ModelSource
  /** `unreadable`: sealed under a key that this process does not have. */
  key: 'none' | 'set' | 'unreadable'
  key_hint: string
  models: ModelView[]
}

interface ModelView {
  id: string
  provider_model: string
  context_tokens: number | null
  /** What it can do, as operators say or as is known of it; null: not known. */
  pictures: boolean | null
  tools: boolean | null
  thinking: boolean | null
  json: boolean | null
  /** Which of these operators have said. */
  set: (keyof ModelAbilities)[]
  /** What a million tokens cost by the list of known models, in US dollars. */
  listed_price: ModelPrice | null
  /** What was learnt about its requests in the last hour, by this process. */
  learnt: string[]
}

/** What is known of models beside the settings. */
export interface ModelFacts {
  abilitiesOf(model: Pick<ProvidedModel, 'kind' | 'baseUrl' | 'providerModel' | 'abilities'>): ModelAbilities
  listedPriceOf(model: Pick<ProvidedModel, 'kind' | 'baseUrl' | 'providerModel'>): ModelPrice | undefined
  learntOf(served: { baseUrl: string; model: string }): string[]
}

/** What operators see of the models. Contains no keys. */
export interface OperatorView {
  servers: ServerView[]
  default_model: string
  default_source: ModelSource
  /** Null: nobody names chats and suggests questions. */
  small_model: string | null
  small_source: ModelSource
  fallbacks: { model: string; others: string[]; source: ModelSource }[]
  currency: string
  prices: (ModelPrice & { model: string })[]
  minutes: MinutePrices
  prices_source: ModelSource
  is_demo: boolean
}

export function toOperator(
  environment: EnvironmentModels,
  record: ModelSettingsRecord,
  catalog: ModelCatalog,
  { secretBox, facts }: { secretBox: Pick<SecretBox, 'open'>; facts: ModelFacts },
): OperatorView {
  const storedFallbacks = parseOwnJson<Record<string, string[]>>(record.fallbacks_json)
  const storedPrices = record.prices_json === undefined ? undefined : parseModelPrices(record.prices_json)
  const { currency, models: prices, minutes = {} } = environment.prices ?? storedPrices ?? noPrices
  const isNamed = environment.defaultModel === catalog.defaultModel
  return {
    servers: [
      ...environmentServers(environment, facts),
      ...record.servers.map((server) => storedServer(server, { secretBox, facts })),
      ...foundServers(environment, record, facts),
    ],
    default_model: catalog.defaultModel,
    default_source: isNamed ? (catalog.isDemo ? 'demo' : 'environment') : defaultSource(record, catalog),
    small_model: catalog.smallModel ?? null,
    small_source: environment.smallModel === undefined ? 'stored' : 'environment',
    fallbacks: [
      ...[...environment.providers.fallbacks].map(([model, others]) => ({
        model,
        others: [...others],
        source: 'environment' as const,
      })),
      ...Object.entries(storedFallbacks)
        .filter(([model]) => !environment.providers.fallbacks.has(model))
        .map(([model, others]) => ({ model, others, source: 'stored' as const })),
    ],
    currency,
    prices: [...prices].map(([model, price]) => ({ model, ...price })),
    minutes,
    prices_source: environment.prices === undefined ? 'stored' : 'environment',
    is_demo: catalog.isDemo,
  }
}

/** Of a server in the list of the view: where it is, and its key. */
export function accountOfServer(
  environment: EnvironmentModels,
  record: ModelSettingsRecord,
  serverId: string,
  secretBox: Pick<SecretBox, 'open'>,
): ServerAccount | undefined {
  const stored = record.servers.find((server) => server.server_id === serverId)
  if (stored !== undefined) {
    const apiKey = keyOf(stored, secretBox)
    return apiKey === undefined ? undefined : { kind: stored.kind, apiKey, baseUrl: stored.base_url }
  }
  if (serverId === openAiId) return environment.account
  const found = environment.found[orderIn(serverId, 'found-')]
  if (found !== undefined) return { apiKey: noKey, baseUrl: found.baseUrl }
  const provider = providerNames(environment)[orderIn(serverId, 'models-')]
  return environment.providers.models.find((model) => model.provider === provider)
}

const openAiId = 'openai'

function orderIn(serverId: string, prefix: string): number {
  return serverId.startsWith(prefix) ? Number(serverId.slice(prefix.length)) : -1
}

function providerNames({ providers }: EnvironmentModels): string[] {
  return [...new Set(providers.models.map(({ provider }) => provider))]
}

function environmentServers(environment: EnvironmentModels, facts: ModelFacts): ServerView[] {
  const { account, isDemo, providers } = environment
  const ofModels = providerNames(environment).map((name, index) => {
    const models = providers.models.filter(({ provider }) => provider === name)
    const apiKey = models[0]?.apiKey ?? noKey
    return {
      server_id: `models-${index}`,
      name,
      kind: models[0]?.kind ?? usualKind,
      base_url: models[0]?.baseUrl ?? null,
      source: 'environment' as const,
      key: keyState(apiKey),
      key_hint: '',
      models: models.map((model) => toModel(model, facts)),
    }
  })
  if (account === undefined) return ofModels
  const source = isDemo ? ('demo' as const) : ('environment' as const)
  return [
    {
      server_id: openAiId,
      name: isDemo ? 'Demo model' : 'OPENAI_BASE_URL',
      kind: usualKind,
      base_url: account.baseUrl ?? null,
      source,
      key: isDemo ? 'none' : keyState(account.apiKey),
      key_hint: '',
      models: [],
    },
    ...ofModels,
  ]
}

/** Those that were found and not stored yet. */
function foundServers({ found }: EnvironmentModels, { servers }: ModelSettingsRecord, facts: ModelFacts): ServerView[] {
  const shown = found.map(({ name, baseUrl, models }, index) => ({
    server_id: `found-${index}`,
    name,
    kind: usualKind,
    base_url: baseUrl,
    source: 'found' as const,
    key: 'none' as const,
    key_hint: '',
    models: models.map(({ id, contextTokens }) => toModel({ id, providerModel: id, baseUrl, contextTokens }, facts)),
  }))
  return shown.filter(({ base_url: url }) => !servers.some((server) => server.base_url === url))
}

function keyState(apiKey: string): 'none' | 'set' {
  return apiKey === noKey ? 'none' : 'set'
}

function storedServer(
  server: ModelServerRecord,
  { secretBox, facts }: { secretBox: Pick<SecretBox, 'open'>; facts: ModelFacts },
): ServerView {
  const key = keyOf(server, secretBox)
  return {
    server_id: server.server_id,
    name: server.name,
    kind: server.kind ?? usualKind,
    base_url: server.base_url,
    source: 'stored',
    key: key === undefined ? 'unreadable' : server.sealed_key === undefined ? 'none' : 'set',
    key_hint: server.key_hint,
    models: server.models.map((model) =>
      toModel(
        {
          id: model.id,
          kind: server.kind,
          baseUrl: server.base_url,
          providerModel: model.provider_model ?? model.id,
          contextTokens: model.context_tokens,
          abilities: abilitiesIn(model),
        },
        facts,
      ),
    ),
  }
}

function toModel(
  model: Omit<ProvidedModel, 'apiKey' | 'provider'>,
  { abilitiesOf, listedPriceOf, learntOf }: ModelFacts,
): ModelView {
  const { id, baseUrl, providerModel, contextTokens } = model
  const { pictures, tools, thinking, json } = abilitiesOf(model)
  return {
    id,
    provider_model: providerModel,
    context_tokens: contextTokens ?? null,
    pictures: pictures ?? null,
    tools: tools ?? null,
    thinking: thinking ?? null,
    json: json ?? null,
    set: abilityNames.filter((name) => model.abilities?.[name] !== undefined),
    listed_price: listedPriceOf(model) ?? null,
    learnt: learntOf({ baseUrl, model: providerModel }),
  }
}

function defaultSource(record: ModelSettingsRecord, catalog: ModelCatalog): ModelSource {
  return record.default_model === catalog.defaultModel ? 'stored' : 'automatic'
}
