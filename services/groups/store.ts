import type { ClientSession } from 'mongoose'
import { type GroupRecord, everyone } from '../../domain/records/group.ts'
import type { LeavingRecord, ProjectRecord } from '../../domain/records/project.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { groupedMembers } from '../owner.ts'
import type { PageRange } from '../page.ts'
import { isMatched } from '../stores/results.ts'

const present = { deleting: { $ne: true } } as const
/** What a list of members shows. */
const person = { email: 1, first_name: 1, last_name: 1, group_ids: 1, claimed_group_ids: 1 } as const
export type GroupMember = Pick<UserRecord, '_id' | 'email' | 'first_name' | 'last_name'>

const inGroup = (groupId: string) => ({ $or: [{ group_ids: groupId }, { claimed_group_ids: groupId }] })

/** All statements on `groups`, and on what users and projects keep of them. */
export const groupStore = ({ groups, users, projects }: Pick<Collections, 'groups' | 'users' | 'projects'>) => ({
  find: async (groupId: string) => groups.findOne({ _id: groupId, ...present }).lean<GroupRecord>(),

  findAll: async (ids: readonly string[]) => groups.find({ _id: { $in: ids }, ...present }).lean<GroupRecord[]>(),

  /** By name; the record of everybody is no group. */
  async list(filter: object, { limit, offset }: PageRange): Promise<{ groups: GroupRecord[]; total: number }> {
    const all = { ...filter, ...present, _id: { $ne: everyone } }
    const [found, total] = await Promise.all([
      groups.find(all).sort({ name: 1, _id: 1 }).skip(offset).limit(limit).lean<GroupRecord[]>(),
      groups.countDocuments(all),
    ])
    return { groups: found, total }
  },

  /** Those of an identity provider's claim. */
  ofClaim: async (realm: string, keys: readonly string[]) =>
    groups
      .find({ source: 'provider', realm, key: { $in: keys }, ...present }, { key: 1 })
      .lean<Pick<GroupRecord, '_id' | 'key'>[]>(),

  countOf: async (source: GroupRecord['source']) => groups.countDocuments({ source }),

  create: async (group: GroupRecord): Promise<void> => {
    await groups.create(group)
  },

  update: async (groupId: string, change: object) =>
    groups.findOneAndUpdate({ _id: groupId, ...present }, change, { returnDocument: 'after' }).lean<GroupRecord>(),

  /** What everybody is allowed. */
  async putEveryone(change: object, made: GroupRecord): Promise<GroupRecord> {
    const { created_at: _created, updated_at: _updated, ...facts } = made
    const found = await groups
      .findOneAndUpdate(
        { _id: everyone },
        { ...change, $setOnInsert: { ...facts, created_at: made.created_at } },
        { upsert: true, returnDocument: 'after' },
      )
      .lean<GroupRecord>()
    return found ?? made
  },

  remove: async (groupId: string): Promise<void> => {
    await groups.deleteOne({ _id: groupId })
  },

  deletingOnes: async (limit: number) =>
    groups.find({ deleting: true }, { _id: 1 }).limit(limit).lean<Pick<GroupRecord, '_id'>[]>(),

  userWithGroups: async (userId: string) => users.findById(userId, { ...person, deleting: 1 }).lean<UserRecord>(),

  async members(groupId: string, { limit, offset }: PageRange): Promise<{ members: GroupMember[]; total: number }> {
    const [members, total] = await Promise.all([
      users.find(inGroup(groupId), person).sort({ _id: 1 }).skip(offset).limit(limit).lean<GroupMember[]>(),
      users.countDocuments(inGroup(groupId)),
    ])
    return { members, total }
  },

  /**
   * A part of the ids of those who are in a group, in ascending order; also of those who have just left it, for whom not
   * all may have been done that follows.
   */
  async memberIds(groupId: string, after: string, limit: number): Promise<string[]> {
    const inOrJustOut = { $or: [...inGroup(groupId).$or, { left_groups: groupId }] }
    const found = await users
      .find({ ...inOrJustOut, _id: { $gt: after } }, { _id: 1 })
      .sort({ _id: 1 })
      .limit(limit)
      .lean<Pick<UserRecord, '_id'>[]>()
    return found.map(({ _id }) => _id)
  },

  /** False if there is no such user, or he is in as many groups as one can be. */
  enter: async (userId: string, groupId: string, most: number) =>
    isMatched(
      await users.updateOne(
        {
          _id: userId,
          ...present,
          $or: [{ group_ids: groupId }, { [`group_ids.${most - 1}`]: { $exists: false } }],
        },
        { $addToSet: { group_ids: groupId } },
      ),
    ),

  /** What follows for the projects of the group is noted in the same write. */
  leave: async (userIds: readonly string[], groupId: string) =>
    users.updateMany(
      { _id: { $in: userIds }, ...inGroup(groupId) },
      { $pull: { group_ids: groupId, claimed_group_ids: groupId }, $addToSet: { left_groups: groupId } },
    ),

  /** Takes what a login has said in place of what the one before did. */
  async claim(userId: string, groupIds: string[], left: string[]): Promise<void> {
    const noted = left.length === 0 ? {} : { $addToSet: { left_groups: { $each: left } } }
    const change =
      groupIds.length === 0 ? { $unset: { claimed_group_ids: 1 } } : { $set: { claimed_group_ids: groupIds } }
    await users.updateOne({ _id: userId }, { ...change, ...noted })
  },

  leftBy: async (limit: number) =>
    users
      .find({ left_groups: { $exists: true } }, { left_groups: 1, ...groupedMembers })
      .limit(limit)
      .lean<UserRecord[]>(),

  /** Of one user. */
  leftByUser: async (userId: string) =>
    users.findById(userId, { left_groups: 1, ...groupedMembers }).lean<UserRecord>(),

  async forgetLeft(userId: string, groupIds: readonly string[]): Promise<void> {
    await users.updateOne({ _id: userId }, { $pullAll: { left_groups: groupIds } })
    await users.updateOne({ _id: userId, left_groups: [] }, { $unset: { left_groups: 1 } })
    await users.updateOne({ _id: userId, group_ids: [] }, { $unset: { group_ids: 1 } })
  },

  /** Those in which groups have a role, or have just lost it. */
  projectsOf: async (groupIds: readonly string[]) =>
    projects
      .find(
        { $or: [{ 'members.group_id': { $in: groupIds } }, { left_groups: { $in: groupIds } }], ...present },
        { user_id: 1, members: 1 },
      )
      .lean<Pick<ProjectRecord, '_id' | 'user_id' | 'members'>[]>(),

  noteLeaving: async (projectId: string, leaving: readonly LeavingRecord[]): Promise<void> => {
    await projects.updateOne({ _id: projectId, ...present }, { $addToSet: { leaving: { $each: leaving } } })
  },

  holderOf: async (projectId: string): Promise<string | undefined> =>
    (await projects.findById(projectId, { user_id: 1 }).lean<Pick<ProjectRecord, 'user_id'>>())?.user_id,

  projectsThatLostGroups: async (limit: number) =>
    projects
      .find({ left_groups: { $exists: true } }, { left_groups: 1 })
      .limit(limit)
      .lean<Pick<ProjectRecord, '_id' | 'left_groups'>[]>(),

  async forgetLostGroup(projectId: string, groupId: string): Promise<void> {
    await projects.updateOne({ _id: projectId }, { $pull: { left_groups: groupId } })
    await projects.updateOne({ _id: projectId, left_groups: [] }, { $unset: { left_groups: 1 } })
  },

  /** A group that goes has no role any more. */
  async takeRoles(groupId: string, session?: ClientSession): Promise<void> {
    const options = session === undefined ? {} : { session }
    await projects.updateMany(
      { 'members.group_id': groupId },
      { $pull: { members: { group_id: groupId } }, $inc: { holds: 1 } },
      options,
    )
  },
})

export type GroupStore = ReturnType<typeof groupStore>
