import type { ClientSession } from 'mongoose'
import type { ProjectRecord, Work } from '../../domain/records/project.ts'
import type { Collections } from '../collections.ts'
import { type Grouped, type Shared, sharedMembers, usedBy } from '../owner.ts'
import { type Named, namesIn } from './named.ts'
import { isMatched } from './results.ts'

/** Statements on `projects`. */
export const projectStore = ({ projects }: Pick<Collections, 'projects'>) => ({
  /** Without a user: for operators. */
  namesOf: (ids: string[], userId: string | undefined): Promise<Named[]> => namesIn(projects, ids, userId),

  /** A write, with which what is created in it at the same time conflicts. */
  touch: async (id: string) => projects.updateOne({ _id: id }, { $inc: { holds: 1 } }),

  /** What was done beside runs, by day. */
  workOfAny: async (id: string) => projects.findById(id, { work: 1 }).lean<Pick<ProjectRecord, 'work'>>(),

  /** Adds to the work of a day, and returns what it was before; null if there is no such project. */
  addWork: (id: string, day: string, work: Partial<Work>): Promise<Pick<ProjectRecord, 'work'> | null> => {
    const counts = Object.entries(work).map(([name, count]) => [`work.${day}.${name}`, count] as const)
    return projects
      .findOneAndUpdate({ _id: id }, { $inc: Object.fromEntries(counts) }, { projection: { work: 1 } })
      .lean<Pick<ProjectRecord, 'work'>>()
      .exec()
  },

  forgetWork: async (id: string, days: string[]) =>
    projects.updateOne({ _id: id }, { $unset: Object.fromEntries(days.map((day) => [`work.${day}`, 1] as const)) }),

  /** Of an own project that is not being deleted, as the caller checks. */
  async holderOfAny(id: string): Promise<string | undefined> {
    const present = { _id: id, deleting: { $ne: true } } as const
    return (await projects.findOne(present, { user_id: 1 }).lean<Pick<ProjectRecord, 'user_id'>>())?.user_id
  },

  /** Also one that is being deleted. */
  hasOwned: async (userId: string, id: string) => (await projects.exists({ _id: id, user_id: userId })) !== null,

  /** It came with an archive, which says when it was created. */
  noteImported: async (userId: string, id: string, created: Date) =>
    projects.updateOne({ _id: id, user_id: userId }, { $set: { created_at: created, imported_at: new Date() } }),

  /** The ids of those that are being deleted. */
  deletingIdsOf: async (userId: string) => projects.distinct('_id', { user_id: userId, deleting: true }),

  isPresent: async (userId: string, id: string) =>
    (await projects.exists({ _id: id, user_id: userId, deleting: { $ne: true } })) !== null,

  /**
   * A write that conflicts with the deletion marker, for the holder or a member: a write that changes nothing would not.
   * False if the project cannot be used.
   */
  lock: async (user: Grouped, id: string, session: ClientSession) =>
    isMatched(
      await projects.updateOne(
        { _id: id, ...usedBy(user), deleting: { $ne: true }, suspended: { $ne: true } },
        { $inc: { holds: 1 } },
        { session },
      ),
    ),

  isUsedBy: async (user: Grouped, id: string) => (await projects.exists({ _id: id, ...usedBy(user) })) !== null,

  /** After something was stored in it, whose owner was checked. */
  isUsableOfAny: async (id: string) =>
    (await projects.exists({ _id: id, deleting: { $ne: true }, suspended: { $ne: true } })) !== null,

  /** For a restored backup: when it was created, and imported. */
  madeOfAny: async (id: string) =>
    projects.findById(id, { created_at: 1, imported_at: 1 }).lean<Pick<ProjectRecord, 'created_at' | 'imported_at'>>(),

  /** The id of the oldest that a user holds. */
  async oldestOf(userId: string): Promise<string | undefined> {
    const found = await projects
      .findOne({ user_id: userId, deleting: { $ne: true } }, { _id: 1 })
      .sort({ created_at: 1, _id: 1 })
      .lean<Pick<ProjectRecord, '_id'>>()
    return found?._id
  },

  isUsable: async (userId: string, id: string) =>
    (await projects.exists({ _id: id, user_id: userId, deleting: { $ne: true }, suspended: { $ne: true } })) !== null,

  /** Those of a user whose public callers are refused. */
  listClosed: async (userId: string) => projects.find({ user_id: userId, suspended: true }, { _id: 1 }).lean<Named[]>(),

  /** The thread that the first login made. */
  async defaultThreadOf(userId: string, id: string): Promise<string | undefined> {
    const project = await projects
      .findOne({ _id: id, user_id: userId }, { default_thread: 1 })
      .lean<Pick<ProjectRecord, 'default_thread'>>()
    return project?.default_thread?.id
  },

  /** Who uses it: the caller decides by that. */
  findSharedOfAny: async (id: string, session?: ClientSession) =>
    projects
      .findById(id, { ...sharedMembers, deleting: 1 })
      .session(session ?? null)
      .lean<Shared & Pick<ProjectRecord, 'deleting'>>(),

  add: async (project: ProjectRecord, session?: ClientSession) =>
    projects.create([project], session === undefined ? {} : { session }),
})
