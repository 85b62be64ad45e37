import Type, { type Static } from 'typebox'
import { languages } from '../languages.ts'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/** How a user logs in. Accounts of different providers are never merged. */
const providers = ['email', 'social', 'userpool'] as const
export type Provider = (typeof providers)[number]

const Scim = Type.Object({
  /** In lower case; unique. */
  user_name: Type.String({ minLength: 1 }),
  /** As it was given. */
  shown_name: Type.String({ minLength: 1 }),
  external_id: Type.Optional(Type.String()),
  display_name: Type.Optional(Type.String()),
  emails: Type.Array(
    Type.Object({
      value: Type.String({ minLength: 1 }),
      kind: Type.Optional(Type.String()),
      primary: Type.Optional(Type.Boolean()),
    }),
  ),
  /** The login provider (its id) whose first login binds the account. */
  provider: Type.String({ minLength: 1 }),
  /** Provisioning has deleted the user: it finds him no more, and he stays deactivated. */
  deleted: Type.Optional(Type.Boolean()),
  created_at: StoredTime,
  updated_at: StoredTime,
})
export type ScimRecord = Static<typeof Scim>

const Verification = Type.Object({
  /** Run id of the workflow that made the code: together with `send` it derives the code. */
  run_id: Type.String({ minLength: 1 }),
  /** Number of the send within that run, from 1. */
  send: Type.Integer(),
  sent_at: StoredTime,
  expires_at: StoredTime,
  attempts_remaining: Type.Integer(),
})
export type VerificationRecord = Static<typeof Verification>

/** Such as 2026-11-22 (UTC). */
const day = Type.String({ minLength: 1 })

const User = Type.Object({
  _id: StoredId,
  /** Processor time that the user's scans took on the newest day with any. */
  recognition: Type.Optional(Type.Object({ day, seconds: Type.Number() })),
  /** Lower-case. Absent if the user was created from a token without an address. */
  email: Type.Optional(Type.String()),
  provider: Type.Enum(providers),
  /**
   * The identity at the provider, `{issuer}|{sub}`, without a trailing slash in the issuer. Absent for password
   * accounts, and before the first login of an account that was created from a service token.
   */
  subject: Type.Optional(Type.String()),
  first_name: Type.Optional(Type.String()),
  last_name: Type.Optional(Type.String()),
  /** Of mails. Absent: English. */
  language: Type.Optional(Type.Enum(languages)),
  password_hash: Type.Optional(Type.String()),
  /** Absent before the first change. */
  password_changed_at: Type.Optional(StoredTime),
  verified: Type.Boolean(),
  thread_counter: Type.Integer(),
  thread_max: Type.Integer(),
  /** What `thread_max` is without plans. Absent until a plan or an administrator changed it. */
  thread_max_base: Type.Optional(Type.Integer()),
  /** What the files may take together, set by an administrator. Absent: as the settings say. */
  storage_max_mb: Type.Optional(Type.Number()),
  /** Bytes of archives that were imported on that day, unpacked. Absent before the first import. */
  imports: Type.Optional(Type.Object({ day, bytes: Type.Integer() })),
  created_at: StoredTime,
  last_active_at: StoredTime,
  /** The state of the current code, written by the e-mail verification workflow. Never the code itself. */
  verification: Type.Optional(Verification),
  /** Incremented by each creation beneath this record, so that creations conflict with the deletion marker. */
  holds: Type.Optional(Type.Integer()),
  /** Set while an administrator has suspended the user: every token and login is refused. */
  suspended_at: Type.Optional(StoredTime),
  /** For operators; the user is not told. */
  suspension_reason: Type.Optional(Type.String()),
  /** What provisioning (SCIM) keeps of the user. Absent: it does not know him. */
  scim: Type.Optional(Scim),
  /** Set while provisioning has deactivated the user: every token and login is refused. */
  deactivated_at: Type.Optional(StoredTime),
  /** What follows from the deactivation may not be done yet. */
  deactivating: Type.Optional(Type.Boolean()),
  /** When the identity provider ended all sessions: tokens that are not newer are refused. */
  sessions_ended_at: Type.Optional(StoredTime),
  /** Ids of the groups of operators and of provisioning in which the user is. */
  group_ids: Type.Optional(Type.Array(StoredId)),
  /** Ids of the groups that the identity provider named at the newest login. */
  claimed_group_ids: Type.Optional(Type.Array(StoredId)),
  /** Groups in which the user is not any more, and whose projects may not have been left yet. */
  left_groups: Type.Optional(Type.Array(StoredId)),
  /** The deletion marker: nothing new can be created for the account. */
  deleting: Type.Optional(Type.Boolean()),
})

export const userRecord = declareRecord({
  model: 'User',
  collection: 'users',
  schema: User,
  owners: [],
  indexes: [
    [{ email: 1 }, { unique: true, partialFilterExpression: { email: { $exists: true } } }],
    [
      { provider: 1, subject: 1 },
      { unique: true, partialFilterExpression: { subject: { $exists: true } } },
    ],
    // With `deleting` at the end, the totals of both lists can be counted from the index.
    [{ verified: 1, created_at: 1, _id: 1, deleting: 1 }],
    [{ last_active_at: 1, _id: 1, deleting: 1 }],
    [{ 'scim.user_name': 1 }, { unique: true, partialFilterExpression: { 'scim.user_name': { $exists: true } } }],
    [{ 'scim.external_id': 1 }, { partialFilterExpression: { 'scim.external_id': { $exists: true } } }],
    [{ group_ids: 1, _id: 1 }, { partialFilterExpression: { group_ids: { $exists: true } } }],
    [{ claimed_group_ids: 1, _id: 1 }, { partialFilterExpression: { claimed_group_ids: { $exists: true } } }],
    [{ deactivating: 1 }, { partialFilterExpression: { deactivating: { $exists: true } } }],
    [{ left_groups: 1 }, { partialFilterExpression: { left_groups: { $exists: true } } }],
  ],
  archive: undefined,
})
export type UserRecord = RecordOf<typeof userRecord>
