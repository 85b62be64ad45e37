import { parseOwnJson } from '../../domain/json.ts'
import { type StoredModels, noKey } from '../../domain/model-catalog.ts'
import { parseModelPrices } from '../../domain/model-prices.ts'
import { abilitiesIn } from '../../domain/model-providers.ts'
import type { ModelServerRecord, ModelSettingsRecord } from '../../domain/records/model-settings.ts'
import type { SecretBox } from '../secrets.ts'
import { storedSearch } from './search-record.ts'

/** A stored record in the form in which it is used, with the keys opened. */
export function storedModels(record: ModelSettingsRecord, secretBox: Pick<SecretBox, 'open'>): StoredModels {
  return {
    models: record.servers.flatMap((server) => {
      const apiKey = keyOf(server, secretBox)
      // Its key cannot be opened: a request without it would only be refused.
      if (apiKey === undefined) return []
      return server.models.map((model) => ({
        id: model.id,
        provider: server.name,
        providerModel: model.provider_model ?? model.id,
        kind: server.kind,
        baseUrl: server.base_url,
        apiKey,
        contextTokens: model.context_tokens,
        abilities: abilitiesIn(model),
      }))
    }),
    defaultModel: record.default_model,
    smallModel: record.small_model,
    fallbacks: new Map(Object.entries(parseOwnJson<Record<string, string[]>>(record.fallbacks_json))),
    search: storedSearch(record.search, secretBox),
    prices: record.prices_json === undefined ? undefined : parseModelPrices(record.prices_json),
  }
}

/** The key of a server; undefined if it is sealed under a key that this process does not have. */
export function keyOf(server: ModelServerRecord, secretBox: Pick<SecretBox, 'open'>): string | undefined {
  if (server.sealed_key === undefined) return noKey
  try {
    return secretBox.open(server.sealed_key, keyContext(server.server_id, server.base_url))
  } catch {
    return undefined
  }
}

/** A sealed key is bound to this: it cannot be opened for another server or another address. */
export function keyContext(serverId: string, baseUrl: string): string {
  return `model-server\n${serverId}\n${baseUrl}`
}
