import type { ClientSession } from 'mongoose'
import {
  type LeavingRecord,
  type MemberRecord,
  type ProjectRecord,
  memberLimits,
} from '../../domain/records/project.ts'
import type { Collections } from '../collections.ts'
import { updateAll } from '../owned-data/erase-all.ts'
import { type Grouped, usedBy, usedByNobodyElse } from '../owner.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { projectStore } from '../stores/projects.ts'
import type { RunInTransaction } from '../transactions.ts'

/**
 * Refuses the public callers of what a deactivated user holds and nobody else uses, as if he were suspended: nobody
 * looks after it. Safe to repeat.
 */
export async function closeUnusedProjects(
  { projects, assistants }: Pick<Collections, 'projects' | 'assistants'>,
  transaction: RunInTransaction,
  userId: string,
): Promise<void> {
  const own = { user_id: userId, ...usedByNobodyElse, suspended: { $ne: true } }
  await updateAll(transaction, projects, own, { $set: { suspended: true } })
  const closed = await projectStore({ projects }).listClosed(userId)
  const ids = closed.map(({ _id }) => _id)
  const open = { user_id: userId, project_id: { $in: ids }, suspended: { $ne: true } }
  await updateAll(transaction, assistants, open, { $set: { suspended: true } })
}

const present = { deleting: { $ne: true } } as const
/** A project without its description. */
const restBytes = 1000

/** Statements on projects as those see them who use them, and on their members. */
export const sharedProjectStore = ({ projects }: Pick<Collections, 'projects'>) => ({
  /** The caller checks the role in it. */
  findOfAny: async (id: string, session?: ClientSession) =>
    projects
      .findOne({ _id: id, ...present })
      .session(session ?? null)
      .lean<ProjectRecord>(),

  /** Whose link the caller checks. */
  findByInvitationOfAny: async (memberId: string) =>
    projects.findOne({ 'members.id': memberId, ...present }).lean<ProjectRecord>(),

  /** Those that the user holds, and those that others share with him; oldest first. */
  list: (user: Grouped, range: PageRange): Promise<Page<ProjectRecord>> =>
    readPage(
      projects
        .find({ ...usedBy(user), ...present })
        .sort({ created_at: 1, _id: 1 })
        .lean<ProjectRecord>(),
      range,
      ({ description }) => Buffer.byteLength(description) + restBytes,
    ),

  /** The changed project; null if he does not use it any more. */
  change: async (user: Grouped, id: string, $set: Partial<ProjectRecord>) =>
    projects
      .findOneAndUpdate({ _id: id, ...usedBy(user), ...present }, { $set }, { returnDocument: 'after' })
      .lean<ProjectRecord>(),

  /** In the transaction that has read them; with who leaves by it. */
  setMembers: async (
    id: string,
    members: MemberRecord[],
    leaves: { leaving?: LeavingRecord; left_groups?: string },
    session: ClientSession,
  ) =>
    projects.updateOne(
      { _id: id },
      {
        $set: { members },
        $inc: { holds: 1 },
        ...(Object.keys(leaves).length === 0 ? {} : { $addToSet: leaves }),
      },
      { session },
    ),

  /** Only this one: he may have come back meanwhile, and left again with another answer. */
  async forgetLeaving(id: string, { user_id, private_threads, to }: LeavingRecord): Promise<void> {
    await projects.updateOne({ _id: id }, { $pull: { leaving: { user_id, private_threads, to } } })
    await projects.updateOne({ _id: id, leaving: [] }, { $unset: { leaving: 1 } })
  },

  noteFormer: async (id: string, userId: string, session: ClientSession) =>
    projects.updateOne(
      { _id: id, former_users: { $ne: userId } },
      { $push: { former_users: { $each: [userId], $slice: -memberLimits.former } } },
      { session },
    ),

  /** For the sweep: those that somebody has left. */
  listLeftOfAny: async (most: number) =>
    projects
      .find({ leaving: { $exists: true } }, { leaving: 1 })
      .limit(most)
      .lean<Pick<ProjectRecord, '_id' | 'leaving'>[]>(),
})
