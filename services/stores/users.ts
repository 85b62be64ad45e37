import type { ClientSession } from 'mongoose'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { type Grouped, groupedMembers } from '../owner.ts'
import { isMatched } from './results.ts'

/** What tells whether an account may be used. */
export type Usable = Pick<UserRecord, 'deleting' | 'suspended_at' | 'deactivated_at'>
const stateMembers = { deleting: 1, suspended_at: 1, deactivated_at: 1, sessions_ended_at: 1 } as const

/** Selects an account that is not being deleted, suspended or deactivated. */
const usable = (userId: string) => ({
  _id: userId,
  deleting: { $ne: true },
  suspended_at: { $exists: false },
  deactivated_at: { $exists: false },
})

/** Statements on `users`. An account is its own owner: its id says whose it is. */
export const userStore = ({ users }: Pick<Collections, 'users'>) => ({
  find: async (userId: string) => users.findById(userId).lean<UserRecord>(),

  add: async (user: UserRecord) => users.create([user]),

  isPresent: async (userId: string) => (await users.exists({ _id: userId, deleting: { $ne: true } })) !== null,

  /** By an address, for which somebody has to prove who he is. */
  async idOfAddress(email: string): Promise<string | undefined> {
    return (await users.findOne({ email }, { _id: 1 }).lean())?._id
  },

  /** For operators, and for those who share a project. */
  addressesOfAny: async (userIds: string[]) =>
    users.find({ _id: { $in: userIds } }, { email: 1 }).lean<Pick<UserRecord, '_id' | 'email'>[]>(),

  isUsable: async (userId: string) => (await users.exists(usable(userId))) !== null,

  /** Counts a thread against the quota. */
  async countThread(userId: string, session: ClientSession): Promise<'counted' | 'full' | 'deleting'> {
    const { matchedCount } = await users.updateOne(
      { _id: userId, deleting: { $ne: true }, $expr: { $lt: ['$thread_counter', '$thread_max'] } },
      { $inc: { thread_counter: 1 } },
      { session },
    )
    if (matchedCount > 0) return 'counted'
    const user = await users.findOne({ _id: userId }, { deleting: 1 }, { session }).lean()
    return user === null || user.deleting ? 'deleting' : 'full'
  },

  uncountThreads: async (userId: string, count: number, session: ClientSession) =>
    users.updateOne({ _id: userId }, { $inc: { thread_counter: -count } }, { session }),

  async recognitionOf(userId: string): Promise<UserRecord['recognition']> {
    return (await users.findById(userId, { recognition: 1 }).lean<Pick<UserRecord, 'recognition'>>())?.recognition
  },

  /** Adds to the day, or begins it. False if another process has begun it at the same time. */
  async addRecognition(userId: string, { day, seconds }: NonNullable<UserRecord['recognition']>): Promise<boolean> {
    const known = { _id: userId, 'recognition.day': day }
    if ((await users.updateOne(known, { $inc: { 'recognition.seconds': seconds } })).matchedCount > 0) return true
    const begun = await users.updateOne(
      { _id: userId, 'recognition.day': { $ne: day } },
      { $set: { recognition: { day, seconds } } },
    )
    return begun.matchedCount > 0
  },

  async storageMaxMbOf(userId: string): Promise<number | undefined> {
    const user = await users.findById(userId, { storage_max_mb: 1 }).lean<Pick<UserRecord, 'storage_max_mb'>>()
    return user?.storage_max_mb
  },

  addImported: async (userId: string, bytes: number, session: ClientSession) =>
    users.updateOne({ _id: userId }, { $inc: { 'imports.bytes': bytes } }, { session }),

  /** Counts what is imported on a day, which begins at 0. False if it has had the most, or the account may not be used. */
  async countImported(
    userId: string,
    { day, bytes, maxBytes }: { day: string; bytes: number; maxBytes: number },
    session: ClientSession,
  ): Promise<boolean> {
    await users.updateOne(
      { ...usable(userId), $or: [{ imports: { $exists: false } }, { 'imports.day': { $lt: day } }] },
      { $set: { imports: { day, bytes: 0 } } },
      { session },
    )
    const { matchedCount } = await users.updateOne(
      { ...usable(userId), 'imports.bytes': { $lt: maxBytes } },
      { $inc: { 'imports.bytes': bytes } },
      { session },
    )
    return matchedCount > 0
  },

  /** Notes a use that is later than the last one by this much. */
  noteUse: async (userId: string, now: Date, before: Date) =>
    users.updateOne({ _id: userId, last_active_at: { $lte: before } }, { $set: { last_active_at: now } }),

  /** For the clean-up: whether any has not confirmed the address for so long. */
  hasUnverifiedOfAny: async (created: Date) =>
    (await users.exists({ verified: false, created_at: { $lt: created }, deleting: { $ne: true } })) !== null,

  /** To whom a mail goes, and in which language: an invitation names an address or a user. */
  findReceiverOfAny: async (whose: Partial<Pick<UserRecord, '_id' | 'email' | 'verified' | 'deleting'>>) =>
    users.findOne(whose, { email: 1, language: 1 }).lean<Pick<UserRecord, 'email' | 'language'>>(),

  findVerified: async (userId: string) => users.findById(userId, { verified: 1 }).lean<Pick<UserRecord, 'verified'>>(),

  /** What it may have. */
  findQuota: async (userId: string) =>
    users
      .findById(userId, { thread_counter: 1, thread_max: 1, storage_max_mb: 1 })
      .lean<Pick<UserRecord, 'thread_counter' | 'thread_max' | 'storage_max_mb'>>(),

  /** Whether it may be used, and when its sessions ended. */
  findState: async (userId: string, session?: ClientSession) =>
    users
      .findById(userId, stateMembers, session === undefined ? {} : { session })
      .lean<Usable & Pick<UserRecord, 'sessions_ended_at'>>(),

  /** Through which groups it uses projects. */
  findGrouped: async (userId: string, session?: ClientSession) =>
    users.findById(userId, groupedMembers, session === undefined ? {} : { session }).lean<Grouped>(),

  /** The changed account; null if there is none. */
  change: async (userId: string, $set: Partial<UserRecord>, session?: ClientSession) =>
    users
      .findOneAndUpdate(
        { _id: userId },
        { $set },
        { ...(session === undefined ? {} : { session }), returnDocument: 'after' },
      )
      .lean<UserRecord>(),

  /** The account after `lock`; also one that is being deleted. */
  findLocked: async (userId: string, session: ClientSession) =>
    users
      .findOneAndUpdate({ _id: userId }, { $inc: { holds: 1 } }, { session, returnDocument: 'after' })
      .lean<UserRecord>(),

  /**
   * A write, with which what is created or counted beneath the account at the same time conflicts. False if it is being
   * deleted.
   */
  lock: async (userId: string, session: ClientSession) =>
    isMatched(await users.updateOne({ _id: userId, deleting: { $ne: true } }, { $inc: { holds: 1 } }, { session })),
})
