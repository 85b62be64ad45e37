export const accessModes = ['authenticated', 'public_token', 'public_no_auth'] as const
export type AccessMode = (typeof accessModes)[number]

export interface AssistantRecord {
  _id: string
  user_id: string
  project_id: string
  name: string
  /** The free-form `config` as JSON text: it comes back exactly as it went in and never becomes part of a query. */
  config_json: string
  public: boolean
  /** Copies of what `config` says, kept for look-ups. */
  access_mode: AccessMode
  public_token?: string
  allowed_origins: string[]
  created_at: Date
  updated_at: Date
  /** The assistant's own model account, its key encrypted. */
  compat_account?: CompatAccountRecord
  /** Raised by each creation beneath this record, so that creations and a deletion's fence never miss each other. */
  holds?: number
  deleting?: boolean
}

export interface CompatAccountRecord {
  base_url: string
  /** First characters of the key, for showing. */
  key_hint: string
  /** Sealed (see `services/secrets.ts`). Absent when the base URL was changed without a new key. */
  encrypted_key?: string
  updated_at: Date
}
