/** How the account is logged in to. Accounts of different providers are never merged. */
export type Provider = 'email' | 'social' | 'userpool'

export interface UserRecord {
  _id: string
  /** Lower-case. Absent for a user made from a token that carries none. */
  email?: string
  provider: Provider
  /**
   * Who this is at the identity provider, `{issuer}|{sub}`, the issuer without a slash at its end. Absent for password
   * accounts, and until the first login of an account that was made from a service token.
   */
  subject?: string
  first_name?: string
  last_name?: string
  password_hash?: string
  verified: boolean
  thread_counter: number
  thread_max: number
  created_at: Date
  last_active_at: Date
  /** The code that is out, as written by the e-mail verification workflow. Never the code itself. */
  verification?: VerificationRecord
  /** Raised by each creation beneath this record, so that creations and a deletion's fence never miss each other. */
  holds?: number
  /** Set when the account's deletion begins: from then on nothing new can be made for it. */
  deleting?: boolean
}

export interface VerificationRecord {
  /** Run id of the workflow that owns the code: with `send` it derives the code. */
  run_id: string
  /** Number of the send within that run, from 1. */
  send: number
  sent_at: Date
  expires_at: Date
  attempts_remaining: number
}
