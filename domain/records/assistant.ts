import Type, { type Static } from 'typebox'
import { requestLimits } from '../limits.ts'
import { providerKinds } from '../model-providers.ts'
import { type RecordOf, StoredId, StoredTime, archivePart, declareRecord } from './declared-record.ts'

export const accessModes = ['authenticated', 'public_token', 'public_no_auth'] as const
export type AccessMode = (typeof accessModes)[number]

const VectorStoreFacts = Type.Object({
  description: Type.Optional(Type.String()),
  metadata_json: Type.String({ minLength: 1 }),
  /** When it was last searched or got a file, to the minute. */
  last_active_at: StoredTime,
  expires_after_days: Type.Optional(Type.Integer()),
  expires_at: Type.Optional(StoredTime),
})
export type VectorStoreFacts = Static<typeof VectorStoreFacts>

const Reembedding = Type.Object({
  /** The generation of the space that is being filled. */
  generation: Type.Integer(),
  /** The model of its vectors. */
  model: Type.String({ minLength: 1 }),
  started_at: StoredTime,
  /** Why it was given up, as the owner may read it. */
  error: Type.Optional(Type.String()),
})
export type ReembeddingRecord = Static<typeof Reembedding>

/** A login at an MCP server. */
const McpLogin = Type.Object({
  id: StoredId,
  /** The address of the server, as in the settings of the tool. */
  url: Type.String({ minLength: 1 }),
  /** Who has logged in: it ends when he leaves the project, or hands it over. */
  user_id: StoredId,
  /** The tokens, and where they are renewed (see `services/mcp-logins`). Absent: it has ended. */
  sealed: Type.Optional(Type.String()),
  /**
   * The client that he had registered there by hand, sealed. It outlives the tokens, so that he need not look for it
   * again.
   */
  client: Type.Optional(Type.String()),
  connected_at: StoredTime,
  /** A process renews the tokens, at most until then. */
  renewing_until: Type.Optional(StoredTime),
})
export type McpLoginRecord = Static<typeof McpLogin>

const CompatAccount = Type.Object({
  /** Absent: `openai-compatible`. */
  kind: Type.Optional(Type.Enum(providerKinds)),
  base_url: Type.String({ minLength: 1 }),
  /** First characters of the key, for display. */
  key_hint: Type.String(),
  /** Sealed (see `services/secrets.ts`). Absent when the base URL was changed without a new key. */
  encrypted_key: Type.Optional(Type.String()),
  updated_at: StoredTime,
})
export type CompatAccountRecord = Static<typeof CompatAccount>

/** What all records of `assistants` have. The configuration of a gateway and of a vector store is empty. */
const knowledgeOwner = {
  _id: StoredId,
  user_id: StoredId,
  project_id: StoredId,
  name: Type.String({ maxLength: requestLimits.nameLength }),
  /**
   * The free-form `config` as sealed JSON text: it contains the public token, headers of tools, and other private
   * values. It is returned unchanged and never becomes part of a query.
   */
  sealed_config: Type.Optional(Type.String()),
  /** Changes with each write of the config, so that a later write can detect a concurrent one. */
  config_version: Type.Optional(Type.String()),
  /** The public members of the config as JSON text, with a shortened description. */
  open_config_json: Type.Optional(Type.String()),
  public: Type.Boolean(),
  /** Copies of members of `config`, for look-ups. */
  access_mode: Type.Enum(accessModes),
  allowed_origins: Type.Array(Type.String()),
  /** Keyed hashes of the public token: the first with the current key, others with previous keys. */
  public_token_hashes: Type.Optional(Type.Array(Type.String())),
  created_at: StoredTime,
  /** Who made it, if that is not the holder of the project; see `holderOf` in `services/owner.ts`. */
  created_by: Type.Optional(StoredId),
  /** When it came with an archive; then `created_at` is that of the archive. */
  imported_at: Type.Optional(StoredTime),
  updated_at: StoredTime,
  /** The assistant's own model account, with its key encrypted. */
  compat_account: Type.Optional(CompatAccount),
  /** Where its owner has logged it in with the browser. */
  mcp_logins: Type.Optional(Type.Array(McpLogin)),
  /** False if the assistant has never had a file, so that a run need not search. */
  has_files: Type.Boolean(),
  /** The model of its vectors (`services/knowledge/embedding-model.ts`); absent before the first. */
  embedding_model: Type.Optional(Type.String()),
  /** The generation of the space that is searched (`domain/knowledge/vector-space.ts`); absent: 0. */
  vector_generation: Type.Optional(Type.Integer()),
  /** The highest generation that was ever used; absent: 0. No generation is used twice. */
  last_generation: Type.Optional(Type.Integer()),
  /** Set while its files are embedded anew, or when that was given up (`services/knowledge/reembedding.ts`). */
  reembedding: Type.Optional(Reembedding),
  /** Incremented by each creation beneath this record, so that creations conflict with the deletion marker. */
  holds: Type.Optional(Type.Integer()),
  deleting: Type.Optional(Type.Boolean()),
  /** Ids of the budgets in which its runs are counted; absent if there are none. */
  budgets: Type.Optional(Type.Array(Type.String())),
  /** Its owner has approved a schedule that the assistant made by its tool; it may make others without asking. */
  schedules_approved: Type.Optional(Type.Boolean()),
  /** A copy of its owner's suspension: public callers are refused, and no step of a run begins. */
  suspended: Type.Optional(Type.Boolean()),
}

const Assistant = Type.Object({
  ...knowledgeOwner,
  /** Absent: one that somebody made. */
  kind: Type.Optional(Type.Enum(['gateway'])),
})
export type AssistantRecord = Static<typeof Assistant>

/** The hidden assistant of a project's runs which name a model in place of one (`services/v1/answering-models.ts`). */
export type GatewayRecord = AssistantRecord & { kind: 'gateway' }

/**
 * The knowledge of an assistant alone, which assistants of its project share
 * (docs/decisions/2026-11-24-vector-stores.md). Nobody runs it.
 */
const VectorStore = Type.Object({
  ...knowledgeOwner,
  kind: Type.Enum(['vector_store']),
  store: VectorStoreFacts,
})
export type VectorStoreRecord = Static<typeof VectorStore>

export const assistantRecord = declareRecord({
  model: 'Assistant',
  collection: 'assistants',
  schema: Type.Union([Assistant, VectorStore]),
  owners: [],
  indexes: [
    [{ project_id: 1, created_at: 1, _id: 1 }],
    [{ user_id: 1 }],
    [{ kind: 1 }, { partialFilterExpression: { kind: { $exists: true } } }],
    [{ 'store.expires_at': 1 }, { partialFilterExpression: { 'store.expires_at': { $exists: true } } }],
    [{ public: 1, created_at: 1, _id: 1 }],
    [{ allowed_origins: 1 }],
    [{ public_token_hashes: 1 }, { unique: true, sparse: true }],
  ],
  archive: archivePart(Type.Object(knowledgeOwner), ['project_id', 'name', 'created_at']),
})
export type StoredAssistant = RecordOf<typeof assistantRecord>
