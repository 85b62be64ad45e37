import type { MemberRecord, ProjectRecord } from '../../domain/records/project.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { type Members, type Store, inBatches, sumOver } from '../owned-data/data-store.ts'
import type { RunInTransaction } from '../transactions.ts'

interface MembershipDeps {
  collections: Pick<Collections, 'projects' | 'users'>
  transaction: RunInTransaction
}

/** What projects of others keep of a user: that he uses them, or is invited to. Projects that are being deleted go whole. */
export function membershipStore({ collections: { projects, users }, transaction }: MembershipDeps): Store {
  const open = { deleting: { $ne: true } } as const

  /** Those that they have proved: others are not theirs. */
  async function emailsOf(ids: string[]): Promise<string[]> {
    const found = await users
      .find({ _id: { $in: ids }, verified: true }, { email: 1 })
      .lean<Pick<UserRecord, 'email'>[]>()
    return found.flatMap(({ email }) => email ?? [])
  }

  /** The projects that name one of these users, and whom of their members. */
  async function naming(ids: string[]) {
    const emails = await emailsOf(ids)
    const isNamed = ({ user_id: id, email, invitation }: MemberRecord) =>
      ids.includes(id ?? invitation?.for_user ?? '') || emails.includes(email)
    const named = [
      { 'members.user_id': { $in: ids } },
      { 'members.invitation.for_user': { $in: ids } },
      { 'members.email': { $in: emails } },
    ]
    const found = await projects.find({ $or: named, ...open }, { members: 1 }).lean<ProjectRecord[]>()
    return { found, isNamed }
  }

  return {
    name: 'memberships',
    phase: 'contents',
    collections: [],
    deleteFor: ({ userIds }: Members) =>
      inBatches(userIds, async (ids) => {
        const { found, isNamed } = await naming(ids)
        for (const { _id } of found)
          await transaction(async (session) => {
            const project = await projects.findOne({ _id }, { members: 1 }, { session }).lean<ProjectRecord>()
            const members = (project?.members ?? []).filter((member) => !isNamed(member))
            await projects.updateOne({ _id }, { $set: { members }, $inc: { holds: 1 } }, { session })
          })
      }),
    countFor: ({ userIds }: Members) =>
      sumOver(userIds, async (ids) => {
        const { found, isNamed } = await naming(ids)
        return found.reduce((sum, { members = [] }) => sum + members.filter(isNamed).length, 0)
      }),
  }
}
