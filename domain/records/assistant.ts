export const accessModes = ['authenticated', 'public_token', 'public_no_auth'] as const
export type AccessMode = (typeof accessModes)[number]

export interface AssistantRecord {
  _id: string
  user_id: string
  project_id: string
  name: string
  /**
   * The free-form `config` as JSON text, sealed: it holds the public token, the headers of tools, and whatever else
   * its owner keeps there. It comes back exactly as it went in and never becomes part of a query.
   */
  sealed_config?: string
  /** Changes with each write of the config, so that a later write can tell that nobody else wrote meanwhile. */
  config_version?: string
  /** The members of the config that everybody may see, as JSON text, the description cut. */
  open_config_json?: string
  public: boolean
  /** Copies of what `config` says, kept for look-ups. */
  access_mode: AccessMode
  allowed_origins: string[]
  /** Keyed hashes of the public token: the first under the current key, others under previous ones. */
  public_token_hashes?: string[]
  /** In place of the sealed members, in records that an earlier version of the service wrote. */
  config_json?: string
  public_token?: string
  created_at: Date
  updated_at: Date
  /** The assistant's own model account, its key encrypted. */
  compat_account?: CompatAccountRecord
  /** False while the assistant has never had a file, so that a run need not look; absent in records of an earlier version. */
  has_files?: boolean
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
