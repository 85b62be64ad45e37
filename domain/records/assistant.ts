import type { ProviderKind } from '../model-providers.ts'

export const accessModes = ['authenticated', 'public_token', 'public_no_auth'] as const
export type AccessMode = (typeof accessModes)[number]

export type StoredAssistant = AssistantRecord | VectorStoreRecord

export interface AssistantRecord extends KnowledgeOwner {
  /** Absent: one that somebody made. */
  kind?: 'gateway'
}

/** The hidden assistant of a project's runs which name a model in place of one (`services/v1/answering-models.ts`). */
export type GatewayRecord = AssistantRecord & { kind: 'gateway' }

/**
 * The knowledge of an assistant alone, which assistants of its project share
 * (docs/decisions/2026-11-24-vector-stores.md). Nobody runs it.
 */
export interface VectorStoreRecord extends KnowledgeOwner {
  kind: 'vector_store'
  store: VectorStoreFacts
}

/** What all records of `assistants` have. The configuration of a gateway and of a vector store is empty. */
export interface KnowledgeOwner {
  _id: string
  user_id: string
  project_id: string
  name: string
  /**
   * The free-form `config` as sealed JSON text: it contains the public token, headers of tools, and other private
   * values. It is returned unchanged and never becomes part of a query.
   */
  sealed_config?: string
  /** Changes with each write of the config, so that a later write can detect a concurrent one. */
  config_version?: string
  /** The public members of the config as JSON text, with a shortened description. */
  open_config_json?: string
  public: boolean
  /** Copies of members of `config`, for look-ups. */
  access_mode: AccessMode
  allowed_origins: string[]
  /** Keyed hashes of the public token: the first with the current key, others with previous keys. */
  public_token_hashes?: string[]
  created_at: Date
  /** Who made it, if that is not the holder of the project; see `holderOf` in `services/owner.ts`. */
  created_by?: string
  /** When it came with an archive; then `created_at` is that of the archive. */
  imported_at?: Date
  updated_at: Date
  /** The assistant's own model account, with its key encrypted. */
  compat_account?: CompatAccountRecord
  /** Where its owner has logged it in with the browser. */
  mcp_logins?: McpLoginRecord[]
  /** False if the assistant has never had a file, so that a run need not search. */
  has_files: boolean
  /** The model of its vectors (`services/knowledge/embedding-model.ts`); absent before the first. */
  embedding_model?: string
  /** The generation of the space that is searched (`domain/knowledge/vector-space.ts`); absent: 0. */
  vector_generation?: number
  /** The highest generation that was ever used; absent: 0. No generation is used twice. */
  last_generation?: number
  /** Set while its files are embedded anew, or when that was given up (`services/knowledge/reembedding.ts`). */
  reembedding?: ReembeddingRecord
  /** Incremented by each creation beneath this record, so that creations conflict with the deletion marker. */
  holds?: number
  deleting?: boolean
  /** Ids of the budgets in which its runs are counted; absent if there are none. */
  budgets?: string[]
  /** Its owner has approved a schedule that the assistant made by its tool; it may make others without asking. */
  schedules_approved?: boolean
  /** A copy of its owner's suspension: public callers are refused, and no step of a run begins. */
  suspended?: boolean
}

export interface VectorStoreFacts {
  description?: string
  metadata_json: string
  /** When it was last searched or got a file, to the minute. */
  last_active_at: Date
  expires_after_days?: number
  expires_at?: Date
}

export interface ReembeddingRecord {
  /** The generation of the space that is being filled. */
  generation: number
  /** The model of its vectors. */
  model: string
  started_at: Date
  /** Why it was given up, as the owner may read it. */
  error?: string
}

/** A login at an MCP server. */
export interface McpLoginRecord {
  id: string
  /** The address of the server, as in the settings of the tool. */
  url: string
  /** Who has logged in: it ends when he leaves the project, or hands it over. */
  user_id: string
  /** The tokens, and where they are renewed (see `services/mcp-logins`). Absent: it has ended. */
  sealed?: string
  /** The client that he had registered there by hand, sealed. It outlives the tokens, so that he need not look for it again. */
  client?: string
  connected_at: Date
  /** A process renews the tokens, at most until then. */
  renewing_until?: Date
}

export interface CompatAccountRecord {
  /** Absent: `openai-compatible`. */
  kind?: ProviderKind
  base_url: string
  /** First characters of the key, for display. */
  key_hint: string
  /** Sealed (see `services/secrets.ts`). Absent when the base URL was changed without a new key. */
  encrypted_key?: string
  updated_at: Date
}
