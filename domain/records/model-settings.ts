import type { ProviderKind } from '../provider-kinds.ts'
import type { SearchProvider } from '../search-account.ts'

/** What operators set on the model page. There is one record; settings of the environment win over it. */
export interface ModelSettingsRecord {
  _id: typeof modelSettingsId
  /** Increases with every change: processes see by it that something changed, and changes exclude each other by it. */
  revision: number
  servers: ModelServerRecord[]
  default_model?: string
  /** What names chats and suggests questions. Absent: nobody does. */
  small_model?: string
  /** By a model's name: models that answer in its place while it fails. As JSON, because names may hold dots. */
  fallbacks_json: string
  /** As `MODEL_PRICES`. */
  prices_json?: string
  /** Where the web is searched. Absent: nowhere. */
  search?: SearchRecord
  updated_at: Date
}

export interface SearchRecord {
  provider: SearchProvider
  /** Absent: the provider's own. */
  base_url?: string
  /** Sealed for this provider and this address; absent if no key is sent. */
  sealed_key?: string
  /** The first characters of the key. */
  key_hint: string
}

export interface ModelServerRecord {
  server_id: string
  name: string
  /** Absent: `openai-compatible`. */
  kind?: ProviderKind
  base_url: string
  /** Sealed for this server and this address; absent if no key is sent. */
  sealed_key?: string
  /** The first characters of the key. */
  key_hint: string
  models: ModelServerModel[]
}

export interface ModelServerModel {
  /** The name by which assistants choose it. */
  id: string
  /** The server's own name of it, if it differs. */
  provider_model?: string
  context_tokens?: number
  /** What it can do; absent: what is known of it. */
  pictures?: boolean
  tools?: boolean
  thinking?: boolean
  json?: boolean
}

export const modelSettingsId = 'models'
