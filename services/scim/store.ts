import type { LoginProvider, LoginProviders } from '../../domain/login-providers.ts'
import type { GroupRecord } from '../../domain/records/group.ts'
import { openRunStatuses } from '../../domain/records/run.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { updateAll } from '../owned-data/erase-all.ts'
import type { PageRange } from '../page.ts'
import { closeUnusedProjects } from '../projects/store.ts'
import type { RunInTransaction } from '../transactions.ts'
import { escaped } from './filters.ts'

type Stored = Pick<Collections, 'users' | 'groups' | 'projects' | 'assistants' | 'runs' | 'schedules'>
const batch = 200

/** All statements of provisioning. `provider` is the one through which its users log in. */
export function scimStore(
  { users, groups, projects, assistants, runs, schedules }: Stored,
  transaction: RunInTransaction,
  provider: LoginProvider | undefined,
  providers: Pick<LoginProviders, 'all'>,
) {
  const { issuer } = provider ?? {}
  /**
   * The accounts that it has made, and those that log in through the same provider, with an address for which that
   * speaks: one issuer may serve several providers. Never one with a password.
   */
  const managed = {
    provider: 'social' as const,
    deleting: { $ne: true },
    'scim.deleted': { $ne: true },
    $or: [
      { 'scim.user_name': { $exists: true } },
      ...(provider === undefined || issuer === undefined
        ? []
        : [{ subject: boundTo(issuer), email: addressesOf(provider, providers) }]),
    ],
  }

  return {
    find: async (id: string) => users.findOne({ _id: id, ...managed }).lean<UserRecord>(),

    async list(filter: object, { limit, offset }: PageRange): Promise<{ users: UserRecord[]; total: number }> {
      const all = { $and: [managed, filter] }
      const [found, total] = await Promise.all([
        limit === 0 ? [] : users.find(all).sort({ _id: 1 }).skip(offset).limit(limit).lean<UserRecord[]>(),
        users.countDocuments(all),
      ])
      return { users: found, total }
    },

    findManaged: async (ids: readonly string[]): Promise<string[]> => {
      const found = await users.find({ _id: { $in: ids }, ...managed }, { _id: 1 }).lean<Pick<UserRecord, '_id'>[]>()
      return found.map(({ _id }) => _id)
    },

    /** One that was deleted, whose place a new one of the same name takes. */
    findDeleted: async (userName: string) =>
      users.findOne({ 'scim.user_name': userName, 'scim.deleted': true, deleting: { $ne: true } }).lean<UserRecord>(),

    create: async (user: UserRecord): Promise<void> => {
      await users.create(user)
    },

    update: async (id: string, change: object) =>
      users
        .findOneAndUpdate({ _id: id, deleting: { $ne: true } }, change, { returnDocument: 'after' })
        .lean<UserRecord>(),

    /** What a user may do ends here; what follows is done afterwards, and noted until then. */
    deactivate: async (id: string): Promise<void> => {
      await users.updateOne(
        { _id: id, deactivated_at: { $exists: false } },
        { $set: { deactivated_at: new Date(), deactivating: true } },
      )
    },

    activate: async (id: string): Promise<void> => {
      await users.updateOne({ _id: id }, { $unset: { deactivated_at: 1, deactivating: 1 } })
    },

    isDeactivating: async (id: string) => (await users.exists({ _id: id, deactivating: true })) !== null,

    deactivatingOnes: async (limit: number) =>
      users.find({ deactivating: true }, { _id: 1 }).limit(limit).lean<Pick<UserRecord, '_id'>[]>(),

    noteDeactivated: async (id: string): Promise<void> => {
      await users.updateOne({ _id: id }, { $unset: { deactivating: 1 } })
    },

    closeOwnProjects: (userId: string): Promise<void> =>
      closeUnusedProjects({ projects, assistants }, transaction, userId),

    async openOwnProjects(userId: string): Promise<void> {
      const marked = { user_id: userId, suspended: true } as const
      await updateAll(transaction, assistants, marked, { $unset: { suspended: 1 } })
      await updateAll(transaction, projects, marked, { $unset: { suspended: 1 } })
    },

    openRuns: async (userId: string) =>
      runs
        .find({ user_id: userId, status: { $in: [...openRunStatuses] } })
        .limit(batch)
        .lean<RunRecord[]>(),

    /** The ids of those that are paused now. */
    async pauseSchedules(userId: string, reason: string): Promise<string[]> {
      const open = { user_id: userId, paused: false, deleting: { $ne: true } }
      const found = await schedules.find(open, { _id: 1 }).lean<Pick<ScheduleRecord, '_id'>[]>()
      const ids = found.map(({ _id }) => _id)
      await schedules.updateMany(
        { _id: { $in: ids }, ...open },
        { $set: { paused: true, pause_reason: reason, check_at: new Date() }, $inc: { revision: 1 } },
        { timestamps: false },
      )
      return ids
    },

    async listGroups(filter: object, { limit, offset }: PageRange): Promise<{ groups: GroupRecord[]; total: number }> {
      const all = { $and: [{ source: 'scim' as const, deleting: { $ne: true } }, filter] }
      const [found, total] = await Promise.all([
        limit === 0 ? [] : groups.find(all).sort({ _id: 1 }).skip(offset).limit(limit).lean<GroupRecord[]>(),
        groups.countDocuments(all),
      ])
      return { groups: found, total }
    },

    findGroup: async (id: string) =>
      groups.findOne({ _id: id, source: 'scim', deleting: { $ne: true } }).lean<GroupRecord>(),

    async membersOf(groupId: string, limit: number): Promise<Pick<UserRecord, '_id' | 'email' | 'scim'>[]> {
      return users
        .find({ group_ids: groupId }, { email: 1, scim: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .lean<Pick<UserRecord, '_id' | 'email' | 'scim'>[]>()
    },
  }
}

export type ScimStore = ReturnType<typeof scimStore>

/** Of the domains of a provider, or else of none that another has. */
function addressesOf({ domains }: LoginProvider, { all }: Pick<LoginProviders, 'all'>) {
  const ofDomains = (names: readonly string[]) => new RegExp(`@(?:${names.map((name) => escaped(name)).join('|')})$`)
  if (domains.length > 0) return { $regex: ofDomains(domains) }
  const taken = all.flatMap((provider) => provider.domains)
  return taken.length === 0 ? { $exists: true } : { $exists: true, $not: ofDomains(taken) }
}

/** Subjects of an issuer begin with it and a bar. */
function boundTo(issuer: string) {
  const bare = issuer.replace(/\/+$/, '')
  return { $gte: `${bare}|`, $lt: `${bare}}` }
}
