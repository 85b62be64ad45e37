import Type, { type Static } from 'typebox'
import { providerKinds } from '../model-providers.ts'
import type { SearchProvider } from '../search-account.ts'
import { type RecordOf, StoredTime, declareRecord, textOf } from './declared-record.ts'

export const modelSettingsId = 'models'

const ModelServerModel = Type.Object({
  /** The name by which assistants choose it. */
  id: Type.String({ minLength: 1 }),
  /** The server's own name of it, if it differs. */
  provider_model: Type.Optional(Type.String()),
  context_tokens: Type.Optional(Type.Number()),
  /** What it can do; absent: what is known of it. */
  pictures: Type.Optional(Type.Boolean()),
  tools: Type.Optional(Type.Boolean()),
  thinking: Type.Optional(Type.Boolean()),
  json: Type.Optional(Type.Boolean()),
})
export type ModelServerModel = Static<typeof ModelServerModel>

const ModelServer = Type.Object({
  server_id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  /** Absent: `openai-compatible`. */
  kind: Type.Optional(Type.Enum(providerKinds)),
  base_url: Type.String({ minLength: 1 }),
  /** Sealed for this server and this address; absent if no key is sent. */
  sealed_key: Type.Optional(Type.String()),
  /** The first characters of the key. */
  key_hint: Type.String(),
  models: Type.Array(ModelServerModel),
})
export type ModelServerRecord = Static<typeof ModelServer>

const Search = Type.Object({
  provider: textOf<SearchProvider>(),
  /** Absent: the provider's own. */
  base_url: Type.Optional(Type.String()),
  /** Sealed for this provider and this address; absent if no key is sent. */
  sealed_key: Type.Optional(Type.String()),
  /** The first characters of the key. */
  key_hint: Type.String(),
})
export type SearchRecord = Static<typeof Search>

/** What operators set on the model page. There is one record; settings of the environment win over it. */
const ModelSettings = Type.Object({
  _id: Type.Enum([modelSettingsId]),
  /** Increases with every change: processes see by it that something changed, and changes exclude each other by it. */
  revision: Type.Number(),
  servers: Type.Array(ModelServer),
  default_model: Type.Optional(Type.String()),
  /** What names chats and suggests questions. Absent: nobody does. */
  small_model: Type.Optional(Type.String()),
  /** By a model's name: models that answer in its place while it fails. As JSON, because names may hold dots. */
  fallbacks_json: Type.String({ minLength: 1 }),
  /** As `MODEL_PRICES`. */
  prices_json: Type.Optional(Type.String()),
  /** Where the web is searched. Absent: nowhere. */
  search: Type.Optional(Search),
  updated_at: StoredTime,
})

export const modelSettingsRecord = declareRecord({
  model: 'ModelSettings',
  collection: 'model_settings',
  schema: ModelSettings,
  owners: [],
  indexes: [],
  archive: undefined,
})
export type ModelSettingsRecord = RecordOf<typeof modelSettingsRecord>
