import type { Language } from '../languages.ts'

/** How a user logs in. Accounts of different providers are never merged. */
export type Provider = 'email' | 'social' | 'userpool'

export interface UserRecord {
  _id: string
  /** Processor time that the user's scans took on the newest day (UTC) with any. */
  recognition?: { day: string; seconds: number }
  /** Lower-case. Absent if the user was created from a token without an address. */
  email?: string
  provider: Provider
  /**
   * The identity at the provider, `{issuer}|{sub}`, without a trailing slash in the issuer. Absent for password
   * accounts, and before the first login of an account that was created from a service token.
   */
  subject?: string
  first_name?: string
  last_name?: string
  /** Of mails. Absent: English. */
  language?: Language
  password_hash?: string
  /** Absent before the first change. */
  password_changed_at?: Date
  verified: boolean
  thread_counter: number
  thread_max: number
  /** What `thread_max` is without plans. Absent until a plan or an administrator changed it. */
  thread_max_base?: number
  /** What the files may take together, set by an administrator. Absent: as the settings say. */
  storage_max_mb?: number
  /** Bytes of archives that were imported on that day (UTC), unpacked. Absent before the first import. */
  imports?: { day: string; bytes: number }
  created_at: Date
  last_active_at: Date
  /** The state of the current code, written by the e-mail verification workflow. Never the code itself. */
  verification?: VerificationRecord
  /** Incremented by each creation beneath this record, so that creations conflict with the deletion marker. */
  holds?: number
  /** Set while an administrator has suspended the user: every token and login is refused. */
  suspended_at?: Date
  /** For operators; the user is not told. */
  suspension_reason?: string
  /** What provisioning (SCIM) keeps of the user. Absent: it does not know him. */
  scim?: ScimRecord
  /** Set while provisioning has deactivated the user: every token and login is refused. */
  deactivated_at?: Date
  /** What follows from the deactivation may not be done yet. */
  deactivating?: boolean
  /** When the identity provider ended all sessions: tokens that are not newer are refused. */
  sessions_ended_at?: Date
  /** Ids of the groups of operators and of provisioning in which the user is. */
  group_ids?: string[]
  /** Ids of the groups that the identity provider named at the newest login. */
  claimed_group_ids?: string[]
  /** Groups in which the user is not any more, and whose projects may not have been left yet. */
  left_groups?: string[]
  /** The deletion marker: nothing new can be created for the account. */
  deleting?: boolean
}

export interface ScimRecord {
  /** In lower case; unique. */
  user_name: string
  /** As it was given. */
  shown_name: string
  external_id?: string
  display_name?: string
  emails: { value: string; kind?: string; primary?: boolean }[]
  /** The login provider (its id) whose first login binds the account. */
  provider: string
  /** Provisioning has deleted the user: it finds him no more, and he stays deactivated. */
  deleted?: boolean
  created_at: Date
  updated_at: Date
}

export interface VerificationRecord {
  /** Run id of the workflow that made the code: together with `send` it derives the code. */
  run_id: string
  /** Number of the send within that run, from 1. */
  send: number
  sent_at: Date
  expires_at: Date
  attempts_remaining: number
}
