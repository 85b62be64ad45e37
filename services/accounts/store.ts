import type { UpdateQuery } from 'mongoose'
import type { CodeReference } from '../../domain/contracts/email-verification.ts'
import type { DeclaredRecords } from '../../domain/records/declared-records.ts'
import type { LoginFailuresRecord } from '../../domain/records/login-failures.ts'
import type { PasswordResetRecord } from '../../domain/records/password-reset.ts'
import { type DefaultMember, type ProjectRecord, mainProjectName } from '../../domain/records/project.ts'
import type { Provider, UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import { isDeleted, isMatched } from '../stores/results.ts'

/** Statements about logouts at identity providers. */
export const logoutStore = ({ users, usedTokens }: Pick<Collections, 'users' | 'usedTokens'>) => ({
  /** False if the token was used before. */
  use: (id: string, removeAt: Date) => isNew(usedTokens.create({ _id: id, remove_at: removeAt })),

  /** Who has no account here has no session either. */
  endSessions: async (subject: string): Promise<void> => {
    await users.updateOne({ provider: 'social', subject }, { $max: { sessions_ended_at: new Date() } })
  },
})

/** Statements on accounts, for those who prove who they are. */
export const accountStore = ({ users }: Pick<Collections, 'users'>) => ({
  /** The caller lets nobody in who has not proven the address. */
  findByAddressOfAny: async (email: string) => users.findOne({ email }).lean<UserRecord>(),

  findBySubject: async (provider: Provider, subject: string) => users.findOne({ provider, subject }).lean<UserRecord>(),

  /** Of one with a password only. */
  replacePassword: async (userId: string, provider: Provider, subject: string) =>
    users.updateOne(
      { _id: userId, provider: 'email' },
      { $set: { provider, subject, verified: true }, $unset: { password_hash: 1, verification: 1 } },
    ),

  bind: async (userId: string, subject: string) =>
    users.updateOne({ _id: userId, subject: { $exists: false } }, { $set: { subject } }),

  noteLogin: async (userId: string) => users.updateOne({ _id: userId }, { $set: { last_active_at: new Date() } }),

  /** If it is as it was read. */
  renewHash: async ({ _id, password_hash }: UserRecord, renewed: string) =>
    users.updateOne({ _id, password_hash }, { $set: { password_hash: renewed } }),

  /** The same for another password; false if it was changed meanwhile. */
  changePassword: async ({ _id, password_hash: known }: UserRecord, password_hash: string) =>
    isMatched(
      await users.updateOne(
        { _id, password_hash: known, deleting: { $ne: true } },
        { $set: { password_hash, password_changed_at: new Date() } },
      ),
    ),

  /** Of a user whose address received the link; null if he is gone. */
  replaceForgotten: async (userId: string, password_hash: string) =>
    users
      .findOneAndUpdate(
        { _id: userId, deleting: { $ne: true } },
        { $set: { password_hash, password_changed_at: new Date(), verified: true }, $unset: { verification: '' } },
      )
      .lean<UserRecord>(),

  /** The changed account; null if there is none. */
  change: async (userId: string, change: UpdateQuery<UserRecord>) =>
    users.findOneAndUpdate({ _id: userId }, change, { returnDocument: 'after' }).lean<UserRecord>(),

  findUnverified: async (userId: string) => users.findOne({ _id: userId, verified: false }).lean<UserRecord>(),

  removeUnverified: async (userId: string) => users.deleteOne({ _id: userId, verified: false }),
})

/** Which code of a user is meant. */
interface SentCode {
  userId: string
  code: CodeReference
}

const codeOf = ({ userId, code }: SentCode) => ({
  _id: userId,
  'verification.run_id': code.runId,
  'verification.send': code.send,
})

/** Statements on the codes that prove the addresses of users. */
export const verificationStore = ({ users }: Pick<Collections, 'users'>) => ({
  /** Before it is mailed. */
  add: async (userId: string, verification: NonNullable<UserRecord['verification']>) =>
    users.updateOne({ _id: userId, verified: false }, { $set: { verification } }),

  /** It is valid from now on. Attempts recorded in the meantime are kept. */
  open: async (code: SentCode, times: { sent_at: Date; expires_at: Date }, attemptsRemaining: number) =>
    users.updateOne(codeOf(code), {
      $set: { 'verification.sent_at': times.sent_at, 'verification.expires_at': times.expires_at },
      $min: { 'verification.attempts_remaining': attemptsRemaining },
    }),

  noteAttempts: async (code: SentCode, attemptsRemaining: number) =>
    users.updateOne(codeOf(code), { $min: { 'verification.attempts_remaining': attemptsRemaining } }),

  markVerified: async (userId: string) =>
    users.updateOne({ _id: userId }, { $set: { verified: true }, $unset: { verification: '' } }),
})

/** Statements on the home of a user: his project, and what was created in it first. */
export const homeStore = ({ projects, assistants, threads }: HomeCollections) => ({
  findMain: async (userId: string) =>
    projects.findOne({ user_id: userId, name: mainProjectName }).lean<ProjectRecord>(),

  find: async (userId: string, id: string) => projects.findOne({ _id: id, user_id: userId }).lean<ProjectRecord>(),

  /** False if another login has reserved one since it was read. */
  reserve: async (id: string, field: DefaultField, known: DefaultMember | undefined, reserved: DefaultMember) => {
    const unchanged = known ? { [`${field}.id`]: known.id } : { [field]: { $exists: false } }
    return isMatched(await projects.updateOne({ _id: id, ...unchanged }, { $set: { [field]: reserved } }))
  },

  noteMade: async (id: string, field: DefaultField, memberId: string) =>
    projects.updateOne({ _id: id, [`${field}.id`]: memberId }, { $set: { [`${field}.made`]: true } }),

  /** Of a sign-up that is taken back. */
  removeProjects: async (userId: string) => projects.deleteMany({ user_id: userId }),

  hasAssistant: async (own: Caller, id: string) => (await assistants.exists({ _id: id, ...present(own) })) !== null,

  async newestThread(own: Caller): Promise<string | undefined> {
    const newest = await threads
      .findOne({ ...present(own), public: false }, { _id: 1 })
      .sort({ updated_at: -1, _id: -1 })
      .lean()
    return newest?._id
  },
})

export type DefaultField = 'default_assistant' | 'default_thread'
export type HomeCollections = Pick<Collections, 'projects' | 'assistants' | 'threads'>
type Caller = { userId: string; projectId: string }
const present = ({ userId, projectId }: Caller) => ({
  user_id: userId,
  project_id: projectId,
  deleting: { $ne: true } as const,
})

/** All statements on wrong passwords, by the hash of the address. */
export const loginFailureStore = ({ loginFailures }: Pick<Collections, 'loginFailures'>) => ({
  findSlowedDown: async (key: string, most: number) =>
    loginFailures
      .findOne({ _id: key, count: { $gte: most }, window_ends: { $gt: new Date() } })
      .lean<LoginFailuresRecord>(),

  /** False if there is none, or it has reached the limit. */
  reset: async (key: string, most: number) =>
    isDeleted(
      await loginFailures.deleteOne({
        _id: key,
        $or: [{ count: { $lt: most } }, { window_ends: { $lte: new Date() } }],
      }),
    ),

  /** Null if there is no record yet. No upsert, because databases answer two simultaneous ones differently. */
  count: async (key: string, now: Date, end: Date) => {
    const open = { $gt: ['$window_ends', now] }
    const $set = {
      count: { $cond: [open, { $add: ['$count', 1] }, 1] },
      window_ends: { $cond: [open, '$window_ends', end] },
    }
    return loginFailures
      .findOneAndUpdate({ _id: key }, [{ $set }], { returnDocument: 'after', updatePipeline: true })
      .lean<LoginFailuresRecord>()
  },

  countKeys: async (keys: string[]) => loginFailures.countDocuments({ _id: { $in: keys } }),

  /** Of accounts that are deleted, or have proved who they are. */
  remove: async (keys: string[]) => loginFailures.deleteMany({ _id: { $in: keys } }),

  /** Another first failure may begin it at the same time. */
  begin: (key: string, end: Date) => isNew(loginFailures.create([{ _id: key, count: 0, window_ends: end }])),
})

/** Statements on links that set a new password. */
export const resetStore = ({
  passwordResets,
  pendingPasswords,
}: Pick<Collections, 'passwordResets' | 'pendingPasswords'>) => ({
  /** By the hash of the token: who knows it may redeem it. */
  findOfAny: async (hash: string) => passwordResets.findById(hash).lean<PasswordResetRecord>(),

  /** Under the hash of its token. A retry stores the same. */
  put: async (hash: string, reset: Omit<PasswordResetRecord, '_id'>) =>
    passwordResets.updateOne({ _id: hash }, { $set: reset }, { upsert: true }),

  removeOwned: async (userId: string) => passwordResets.deleteMany({ user_id: userId }),

  addPending: async (pending: DeclaredRecords['pendingPasswords']) => pendingPasswords.create([pending]),

  findPending: async (userId: string, id: string) => pendingPasswords.findOne({ _id: id, user_id: userId }).lean(),

  removePending: async (id: string) => pendingPasswords.deleteOne({ _id: id }),
})
