import { invalidInput } from '../../domain/errors.ts'
import {
  type ModelAbilities,
  type ProviderKind,
  abilitiesIn,
  abilityNames,
  usualKind,
} from '../../domain/model-providers.ts'
import type { ModelServerModel, ModelServerRecord } from '../../domain/records/model-settings.ts'
import type { SecretBox } from '../secrets.ts'
import { checkedUrl, hintOf } from './operator-input.ts'
import { keyContext, keyOf } from './stored-models.ts'

export interface ModelServerChange {
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
export function serverAfter(
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
  const isKept = key === undefined && known?.base_url === baseUrl && known.sealed_key !== undefined
  return isKept ? { ...facts, key_hint: known.key_hint, sealed_key: known.sealed_key } : facts
}

/** The server with its key sealed under the current `SECRETS_KEY`. */
export function resealed(secretBox: SecretBox, server: ModelServerRecord): ModelServerRecord {
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
