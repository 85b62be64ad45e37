import { addAll } from './add-all.ts'
import { type ModelPrice, type ModelPrices, noPrices } from './model-prices.ts'
import { type ProvidedModel, type ProviderKind, type ProviderSettings, providersOf } from './model-providers.ts'
import type { SearchAccount } from './search-account.ts'
import { type ServedModel, seemsToChat } from './served-models.ts'

/** A server that `npm start` found on this machine. */
export interface FoundServer {
  name: string
  baseUrl: string
  models: ServedModel[]
}

/** What the settings of the environment say about models. */
export interface EnvironmentModels {
  /** The server of `OPENAI_BASE_URL`, where models are asked that no other server has. */
  account: { apiKey: string; baseUrl: string | undefined } | undefined
  /** That server is the demo model of `npm start`. */
  isDemo: boolean
  /** Of `MODELS`. */
  providers: ProviderSettings
  /** Undefined if `DEFAULT_MODEL` is not set. */
  defaultModel: string | undefined
  /** Undefined if `SMALL_MODEL` is not set. */
  smallModel?: string | undefined
  /** Undefined if `MODEL_PRICES` is not set. */
  prices: ModelPrices | undefined
  found: FoundServer[]
  /** Undefined if `SEARCH_PROVIDER` is not set. */
  search?: SearchAccount | undefined
}

/** What operators have set, with the keys opened. */
export interface StoredModels {
  models: ProvidedModel[]
  defaultModel: string | undefined
  smallModel?: string | undefined
  fallbacks: ReadonlyMap<string, readonly string[]>
  prices: ModelPrices | undefined
  search?: SearchAccount | undefined
}

/** The models that runs can use now. */
export interface ModelCatalog {
  providers: ProviderSettings
  /** Where models are asked that no provider has. */
  account: { apiKey: string; baseUrl: string | undefined } | undefined
  defaultModel: string
  /** What names chats and suggests questions; undefined: nobody does. */
  smallModel: string | undefined
  prices: ModelPrices
  /** Only the demo model answers. */
  isDemo: boolean
  /** Where the web is searched; undefined: nowhere. */
  search: SearchAccount | undefined
}

/** The name under which the demo model of `npm start` is asked. */
export const demoModel = 'demo-model'
/** The model that is asked when nobody names one. */
export const usualModel = 'gpt-4o-mini'

export const nothingStored: StoredModels = {
  models: [],
  defaultModel: undefined,
  fallbacks: new Map(),
  prices: undefined,
}

/**
 * Settings of the environment win over what operators have stored. A server that was found is used when there is
 * exactly one and nothing else was set. The demo model answers only while there is no other.
 */
export function catalogOf(
  environment: EnvironmentModels,
  stored: StoredModels,
  listedPrice: ListedPrice = () => undefined,
): ModelCatalog {
  const { account, providers } = environment
  const isSet = !environment.isDemo && (account !== undefined || providers.models.length > 0)
  const models = [...providers.models, ...stored.models]
  if (!isSet && models.length === 0) addAll(models, modelsOfOnly(environment.found))
  const isDemo = environment.isDemo && models.length === 0
  const usableAccount = environment.isDemo && !isDemo ? undefined : account
  const isServed = (id: string) => usableAccount !== undefined || models.some((model) => model.id === id)
  const named = isDemo || environment.defaultModel !== demoModel ? environment.defaultModel : undefined
  const chosen = stored.defaultModel !== undefined && isServed(stored.defaultModel) ? stored.defaultModel : undefined
  const first = isSet ? undefined : (models.find(({ id }) => seemsToChat(id)) ?? models[0])?.id
  return {
    providers: { models, fallbacks: fallbacksOf(providers, stored, models) },
    account: usableAccount,
    defaultModel: named ?? chosen ?? first ?? usualModel,
    smallModel: environment.smallModel ?? servedOf(stored.smallModel, isServed),
    prices: withListed(environment.prices ?? stored.prices ?? noPrices, {
      models,
      account: usableAccount,
      listedPrice,
    }),
    isDemo,
    search: environment.search ?? stored.search,
  }
}

/** A model that is gone names no chats. */
function servedOf(model: string | undefined, isServed: (id: string) => boolean): string | undefined {
  return model !== undefined && isServed(model) ? model : undefined
}

/** What the list of known models says that a million tokens cost, in US dollars. */
export type ListedPrice = (model: Pick<ProvidedModel, 'kind' | 'baseUrl' | 'providerModel'>) => ModelPrice | undefined

/** Prices of the list stand in for those that operators did not set, if they count in its currency. */
function withListed(
  prices: ModelPrices,
  {
    models,
    account,
    listedPrice,
  }: Pick<ModelCatalog, 'account'> & { models: ProvidedModel[]; listedPrice: ListedPrice },
): ModelPrices {
  if (prices.currency !== 'usd') return prices
  const known = new Map<string, ModelPrice | undefined>()
  for (const model of models) if (!known.has(model.id)) known.set(model.id, listedPrice(model))
  const others = (model: string) =>
    account === undefined ? undefined : listedPrice({ baseUrl: account.baseUrl ?? '', providerModel: model })
  return { ...prices, listed: (model) => (known.has(model) ? known.get(model) : others(model)) }
}

/** The server that answers for the default model; undefined if none is known. */
export function defaultServer({
  providers,
  account,
  defaultModel,
}: ModelCatalog): { kind?: ProviderKind | undefined; apiKey: string; baseUrl: string | undefined } | undefined {
  const [first] = providersOf(providers, defaultModel)
  return first === undefined ? account : { kind: first.kind, apiKey: first.apiKey, baseUrl: first.baseUrl }
}

/** Whether a model is offered under this name. */
export function isServed({ providers, defaultModel }: ModelCatalog, model: string): boolean {
  return model === defaultModel || providers.models.some(({ id }) => id === model)
}

function modelsOfOnly(found: FoundServer[]): ProvidedModel[] {
  const [only] = found
  if (only === undefined || found.length > 1) return []
  return only.models.map(({ id, contextTokens }) => ({
    id,
    provider: only.name,
    providerModel: id,
    baseUrl: only.baseUrl,
    apiKey: noKey,
    contextTokens,
  }))
}

/** A model that is gone answers for no other. */
function fallbacksOf(providers: ProviderSettings, stored: StoredModels, models: ProvidedModel[]) {
  const known = new Set(models.map(({ id }) => id))
  const usable = [...stored.fallbacks].flatMap(([model, others]) => {
    const left = others.filter((other) => known.has(other))
    return left.length === 0 ? [] : [[model, left] as const]
  })
  return new Map([...usable, ...providers.fallbacks])
}

/** Sent to servers that need no key, because the client library requires one. */
export const noKey = 'none'
