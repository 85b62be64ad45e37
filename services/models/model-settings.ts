import { AppError, invalidInput } from '../../domain/errors.ts'
import { type ModelCatalog, isServed } from '../../domain/model-catalog.ts'
import type { MinutePrices, ModelPrice, ModelPrices } from '../../domain/model-prices.ts'
import {
  type ModelAbilities,
  type ProviderKind,
  abilitiesIn,
  abilityNames,
  usualKind,
} from '../../domain/model-providers.ts'
import {
  type ModelServerRecord,
  type ModelSettingsRecord,
  modelSettingsId,
  type ModelServerModel,
} from '../../domain/records/model-settings.ts'
import type { Collections } from '../collections.ts'
import { type SecretBox, hintOf } from '../secrets.ts'
import { modelSettingsStore } from '../stores/model-settings.ts'
import type { LiveModels } from './live-models.ts'
import type { ServerAccount } from './model-servers.ts'
import { checkedUrl } from './operator-input.ts'
import { type SearchChange, type WebSearchView, resealedSearch, searchAfter, toWebSearch } from './search-record.ts'
import { keyContext, keyOf } from './stored-models.ts'
import { type ModelFacts, type OperatorView, accountOfServer, toOperator } from './to-operator.ts'

interface ModelSettingsDeps {
  collections: Pick<Collections, 'modelSettings'>
  secretBox: SecretBox
  models: Pick<LiveModels, 'environment' | 'current' | 'take'>
  facts: ModelFacts
}

interface ModelChoices {
  /** Null: the service chooses. */
  default_model: string | null
  /** Null: none. Absent: as it is. */
  small_model?: string | null | undefined
  fallbacks: Record<string, string[]>
  currency: string
  prices: Record<string, ModelPrice>
  minutes?: MinutePrices | undefined
}

const serversMax = 50
const modelsMax = 2000
/** How often a change is tried, because another operator may change something at the same time. */
const triesMax = 10

export type ModelSettings = ReturnType<typeof createModelSettings>

/** What operators set about models, besides the settings of the environment. */
export function createModelSettings({ collections, secretBox, models, facts }: ModelSettingsDeps) {
  const store = modelSettingsStore(collections)

  async function read(): Promise<ModelSettingsRecord> {
    const record = await store.find()
    return record ?? { _id: modelSettingsId, revision: 0, servers: [], fallbacks_json: '{}', updated_at: new Date(0) }
  }

  /** Stores a change if nobody else changed the record in the meantime; otherwise makes it again. */
  async function change(next: (record: ModelSettingsRecord) => ModelSettingsRecord): Promise<OperatorView> {
    for (let tries = 1; tries <= triesMax; tries++) {
      const known = await read()
      const record = { ...next(known), revision: known.revision + 1, updated_at: new Date() }
      if (!(await store.replace(known.revision, record))) continue
      models.take(record)
      return view(record)
    }
    throw new AppError('conflict', 'Somebody else is changing the settings of models. Try again.')
  }

  function view(record: ModelSettingsRecord): OperatorView {
    return toOperator(models.environment, record, models.current(), { secretBox, facts })
  }

  return {
    view: async (): Promise<OperatorView> => {
      const record = await read()
      models.take(record)
      return view(record)
    },

    putServer: (serverId: string, given: ModelServerChange): Promise<OperatorView> =>
      change((record) => {
        const known = record.servers.find((server) => server.server_id === serverId)
        const server = serverAfter(secretBox, serverId, known, given)
        const servers =
          known === undefined
            ? [...record.servers, server]
            : record.servers.map((other) => (other === known ? server : other))
        requireRoom(servers)
        return { ...record, servers }
      }),

    deleteServer: (serverId: string): Promise<OperatorView> =>
      change((record) => {
        const servers = record.servers.filter((server) => server.server_id !== serverId)
        if (servers.length === record.servers.length) throw noServer()
        return { ...record, servers }
      }),

    choose: ({
      default_model: model,
      small_model: small,
      fallbacks,
      currency,
      prices,
      minutes,
    }: ModelChoices): Promise<OperatorView> =>
      change((record) => {
        const { default_model: _old, small_model: oldSmall, ...rest } = record
        const newSmall = small === undefined ? oldSmall : (small ?? undefined)
        requireServed(models.current(), { model, small }, fallbacks)
        const written: Omit<ModelPrices, 'models'> & { models: ModelChoices['prices'] } = {
          currency: currency.toLowerCase(),
          models: prices,
          ...(minutes === undefined ? {} : { minutes }),
        }
        return {
          ...rest,
          ...(model === null ? {} : { default_model: model }),
          ...(newSmall === undefined ? {} : { small_model: newSmall }),
          fallbacks_json: JSON.stringify(fallbacks),
          prices_json: JSON.stringify(written),
        }
      }),

    searchView: async (): Promise<WebSearchView> => {
      const record = await read()
      models.take(record)
      return toWebSearch(models.environment.search, record.search, secretBox)
    },

    /** Sets where the web is searched. */
    async putSearch(given: SearchChange): Promise<WebSearchView> {
      await change(({ search: known, ...record }) => {
        const search = searchAfter(secretBox, known, given)
        return search === undefined ? record : { ...record, search }
      })
      return this.searchView()
    },

    /** Where a server is that the view lists, and its key. */
    async accountOf(serverId: string): Promise<ServerAccount> {
      const account = accountOfServer(models.environment, await read(), serverId, secretBox)
      if (account === undefined) throw noServer()
      return { kind: account.kind, apiKey: account.apiKey, baseUrl: account.baseUrl }
    },

    /** Seals every key again that is sealed under a previous `SECRETS_KEY`. Returns how many there were. */
    async reseal(): Promise<number> {
      const { servers, search: web } = await read()
      const keys = [...servers, ...(web === undefined ? [] : [web])].map(({ sealed_key: key }) => key)
      const old = keys.filter((key) => key !== undefined && !secretBox.isCurrent(key))
      if (old.length === 0) return 0
      await change(({ search, ...record }) => ({
        ...record,
        servers: record.servers.map((server) => resealed(secretBox, server)),
        ...(search === undefined ? {} : { search: resealedSearch(secretBox, search) }),
      }))
      return old.length
    },
  }
}

function requireServed(
  catalog: ModelCatalog,
  { model, small = null }: { model: string | null; small: string | null | undefined },
  fallbacks: ModelChoices['fallbacks'],
): void {
  const isKnown = (id: string) => catalog.account !== undefined || isServed(catalog, id)
  if (model !== null && !isKnown(model)) throw invalidInput(['body', 'default_model'], 'no server has this model')
  if (small !== null && !isKnown(small)) throw invalidInput(['body', 'small_model'], 'no server has this model')
  for (const [one, others] of Object.entries(fallbacks))
    for (const other of [one, ...others])
      if (!catalog.providers.models.some(({ id }) => id === other))
        throw invalidInput(['body', 'fallbacks', one], `no server lists ${other}`)
}

function requireRoom(servers: ModelServerRecord[]): void {
  if (servers.length > serversMax) throw invalidInput(['path', 'server_id'], `there can be ${serversMax} servers`)
  const count = servers.reduce((total, server) => total + server.models.length, 0)
  if (count > modelsMax) throw invalidInput(['body', 'models'], `all servers together can have ${modelsMax} models`)
}

function noServer(): AppError {
  return new AppError('not_found', 'There is no such model server.')
}

interface ModelServerChange {
  name: string
  kind?: ProviderKind
  base_url: string
  /** Absent: the key stays, if the address stays. Null: no key. */
  api_key?: string | null
  models: GivenModel[]
}

/** Absent abilities stay as they are; null: what is known of the model. */
type GivenModel = Omit<ModelServerModel, keyof ModelAbilities> & { [N in keyof ModelAbilities]?: boolean | null }

/** A server after an operator's change. */
function serverAfter(
  secretBox: SecretBox,
  serverId: string,
  known: ModelServerRecord | undefined,
  { name, kind, base_url: given, api_key: key, models: served }: ModelServerChange,
): ModelServerRecord {
  const baseUrl = checkedUrl(given)
  const facts = {
    server_id: serverId,
    name,
    ...(kind === undefined || kind === usualKind ? {} : { kind }),
    base_url: baseUrl,
    key_hint: '',
    models: distinct(served).map((model) =>
      modelAfter(
        model,
        known?.models.find(({ id }) => id === model.id),
      ),
    ),
  }
  if (key) return { ...facts, key_hint: hintOf(key), sealed_key: secretBox.seal(key, keyContext(serverId, baseUrl)) }
  // A key was given for its address: it is never sent to another one.
  const isStored = key === undefined && known?.base_url === baseUrl && known.sealed_key !== undefined
  return isStored ? { ...facts, key_hint: known.key_hint, sealed_key: known.sealed_key } : facts
}

/** The server with its key sealed under the current `SECRETS_KEY`. */
function resealed(secretBox: SecretBox, server: ModelServerRecord): ModelServerRecord {
  const key = server.sealed_key === undefined ? undefined : keyOf(server, secretBox)
  if (key === undefined) return server
  return { ...server, sealed_key: secretBox.seal(key, keyContext(server.server_id, server.base_url)) }
}

function modelAfter(
  { pictures, tools, thinking, json, ...model }: GivenModel,
  known: ModelServerModel | undefined,
): ModelServerModel {
  const given = { pictures, tools, thinking, json }
  const said: ModelAbilities = {}
  for (const name of abilityNames) {
    const able = (given[name] === undefined ? known?.[name] : given[name]) ?? undefined
    if (able !== undefined) said[name] = able
  }
  return { ...model, ...abilitiesIn(said) }
}

function distinct(models: GivenModel[]): GivenModel[] {
  const ids = new Set(models.map(({ id }) => id))
  if (ids.size < models.length) throw invalidInput(['body', 'models'], 'two models have the same name')
  return models
}
