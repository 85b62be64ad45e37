import type { ClientSession, UpdateQuery } from 'mongoose'
import type { ThreadRecord, Visibility } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { UserInProject } from '../owner.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { type Named, namesIn } from './named.ts'
import { isDeleted, isMatched } from './results.ts'

/** Selects threads that are not being deleted. */
const present = { deleting: { $ne: true } } as const
/** A thread without its metadata; a name has at most 1,000 characters. */
const restBytes = 5000
const rememberedErasures = 1000

/** Its owner lets those continue it who use the project. */
const continuedByAll = { visibility: 'project', project_access: 'continue' } as const
/** Not those of public callers and completions, temporary ones, and those in which assistants ask each other. */
const ofPersons = {
  public: false,
  counted: { $ne: false },
  asked_from: { $exists: false },
  expires_at: { $exists: false },
  ...present,
} as const

/**
 * Selects the threads of a project that its user sees in lists: his own, and those that the project sees. `more` stands in
 * each part: beside `$or` and a condition on ids, the embedded database finds nothing by the partial index of it.
 */
function listed<More extends object>(
  { userId, projectId, isShared = false }: Lister,
  visibility: Visibility | undefined,
  more: More,
) {
  const inProject = { project_id: projectId, ...ofPersons, ...more }
  const own = { user_id: userId, ...inProject }
  const ofProject = { visibility: 'project' as const, ...inProject }
  if (visibility === 'private') return { ...own, visibility: { $exists: false } }
  if (visibility === 'project') return ofProject
  return isShared ? { $or: [own, ofProject] } : own
}

/** Whether threads were put aside. */
const aside = (archived: boolean | undefined) => ({ archived: archived ? true : { $ne: true } }) as const

/** What an append to the log needs of the thread. */
const membersOfAppend = {
  last_seq: 1,
  log_bytes: 1,
  project_id: 1,
  public: 1,
  counted: 1,
  asked_from: 1,
  expires_at: 1,
  erased_ids: 1,
} as const

const foundMembers = { name: 1, assistant_id: 1, pinned: 1, tags: 1, updated_at: 1 } as const
export type FoundThread = Pick<ThreadRecord, '_id' | keyof typeof foundMembers>

/** Who lists threads; `isShared`: he uses the project with others. */
interface Lister extends UserInProject {
  isShared?: boolean
}

/**
 * What a list of threads is limited to; `archived`: those put aside in place of the others; `without`: one that is not
 * shown.
 */
interface Listed {
  pinned?: boolean | undefined
  archived?: boolean | undefined
  tag?: string | undefined
  visibility?: Visibility | undefined
  /** The lister's own folder. */
  folder?: string | undefined
  /** Folders whose threads are left out. */
  notIn?: string[] | undefined
  without?: string | undefined
}

const aliveContainer = ({ userId, projectId }: UserInProject, threadId: string) => ({
  _id: threadId,
  user_id: userId,
  project_id: projectId,
  container: { $exists: true },
  expires_at: { $gt: new Date() },
  ...present,
})

type AppendedThread = Pick<ThreadRecord, '_id' | keyof typeof membersOfAppend>

interface NewNumbers {
  /** Of the newest entry. */
  id: string
  now: Date
  entries: number
  bytes: number
  $set: Partial<ThreadRecord>
  erases: readonly string[]
}

/** Statements on `threads`. */
export const threadStore = ({ threads }: Pick<Collections, 'threads'>) => ({
  /** Without a user: for operators. */
  namesOf: (ids: string[], userId: string | undefined): Promise<Named[]> => namesIn(threads, ids, userId),

  /** Of those that the project sees. */
  namesSeenIn: async (projectId: string, ids: string[]) =>
    threads.find({ _id: { $in: ids }, project_id: projectId, visibility: 'project' }, { name: 1 }).lean<Named[]>(),

  findOwned: async (userId: string, id: string) =>
    threads.findOne({ _id: id, user_id: userId, ...present }).lean<ThreadRecord>(),

  /** Most recently updated first, and how many there are. */
  async list(
    lister: Lister,
    { pinned, archived, tag, visibility, folder, notIn = [], without }: Listed,
    range: PageRange,
  ): Promise<Page<ThreadRecord> & { total: number }> {
    const filter = {
      ...listed(lister, visibility, {
        ...aside(archived),
        ...(pinned ? { pinned } : {}),
        ...(tag === undefined ? {} : { tags: tag }),
      }),
      ...(folder === undefined ? {} : { user_id: lister.userId, folder_id: folder }),
      ...(notIn.length === 0 ? {} : { folder_id: { $nin: notIn } }),
      ...(without === undefined ? {} : { _id: { $ne: without } }),
    }
    const query = threads.find(filter).sort({ updated_at: -1, _id: -1 }).lean<ThreadRecord>()
    const [page, total] = await Promise.all([
      readPage(query, range, ({ metadata_json: metadata }) => Buffer.byteLength(metadata) + restBytes),
      threads.countDocuments(filter),
    ])
    return { ...page, total }
  },

  /** Without those put aside. */
  tagsOf: async (lister: Lister) =>
    threads.distinct('tags', listed(lister, undefined, { ...aside(false), tags: { $exists: true } })),

  /** Those that are listed of a project. */
  listFound: async (lister: Lister, ids: string[]) =>
    threads.find({ _id: { $in: ids }, ...listed(lister, undefined, {}) }, foundMembers).lean<FoundThread[]>(),

  /** The caller decides by it who may see it. */
  findOfAny: async (id: string) => threads.findOne({ _id: id, ...present }).lean<ThreadRecord>(),

  /** Who may see it: the caller decides by that. */
  findAccessOfAny: async (id: string) =>
    threads
      .findOne({ _id: id, ...present }, { user_id: 1, project_id: 1, visibility: 1 })
      .lean<Pick<ThreadRecord, '_id' | 'user_id' | 'project_id' | 'visibility'>>(),

  /** When it is deleted by itself; null if it is gone. */
  findExpiryOfAny: async (id: string) =>
    threads.findById(id, { expires_at: 1 }).lean<Pick<ThreadRecord, '_id' | 'expires_at'>>(),

  /** One that its user may share. */
  findSharable: async (userId: string, id: string) =>
    threads
      .findOne({ _id: id, user_id: userId, public: false, counted: { $ne: false }, ...present })
      .lean<ThreadRecord>(),

  /** The changed thread; null if there is none. */
  changeOwned: async (userId: string, id: string, change: UpdateQuery<ThreadRecord>) =>
    threads
      .findOneAndUpdate({ _id: id, user_id: userId, ...present }, change, { returnDocument: 'after' })
      .lean<ThreadRecord>(),

  /** Those of a folder that is gone: it is none. */
  leaveFolder: async (userId: string, folderId: string) =>
    threads.updateMany({ user_id: userId, folder_id: folderId }, { $unset: { folder_id: 1 } }, { timestamps: false }),

  add: async (thread: ThreadRecord) => threads.create([thread]),

  /** One that was made here. */
  addNew: async (thread: ThreadRecord, session: ClientSession) => threads.insertMany([thread], { session, lean: true }),

  /** Counts one more thread beside this one; false if it has as many as it may have, or is being deleted. */
  countSide: async (id: string, max: number, session: ClientSession) =>
    isMatched(
      await threads.updateOne(
        { _id: id, sides: { $not: { $gte: max } }, ...present },
        { $inc: { sides: 1 } },
        { session, timestamps: false },
      ),
    ),

  /** Takes a creation back. */
  remove: async ({ _id }: ThreadRecord, session?: ClientSession) =>
    isDeleted(await threads.deleteOne({ _id }, session === undefined ? {} : { session })),

  /** Whether its log may hold system messages. The thread was found as its owner's. */
  mayHaveSystem: async (id: string): Promise<boolean> =>
    (await threads.findOne({ _id: id }, { has_system: 1 }).lean<Pick<ThreadRecord, 'has_system'>>())?.has_system !==
    false,

  /**
   * Takes the next numbers of the log for entries of which the last has the id, and remembers what they erase. Null if it
   * is being deleted. The thread was found as its owner's.
   */
  takeNumbers: async (
    threadId: string,
    { id, now, entries, bytes, $set, erases }: NewNumbers,
    session: ClientSession,
  ) =>
    threads
      .findOneAndUpdate(
        { _id: threadId, ...present },
        {
          $inc: { last_seq: entries, log_bytes: bytes },
          $set: { ...$set, last_entry_id: id, updated_at: now },
          $unset: { follow_ups: 1 },
          ...(erases.length === 0
            ? {}
            : { $push: { erased_ids: { $each: [...erases], $slice: -rememberedErasures } } }),
        },
        { session, returnDocument: 'after', projection: membersOfAppend },
      )
      .lean<AppendedThread>(),

  /** The messages of a user's threads that take no place of the quota. */
  async sumUncountedBytes(userId: string): Promise<number> {
    const isKept = { expires_at: { $exists: false }, $or: [{ counted: false }, { public: true }] }
    const [sum] = await threads.aggregate<{ bytes: number }>([
      { $match: { user_id: userId, ...isKept } },
      { $group: { _id: null, bytes: { $sum: '$log_bytes' } } },
    ])
    return sum?.bytes ?? 0
  },

  /** Takes the number of an imported entry; false if the thread has gone on since it was read. */
  takeImported: async (
    { _id, user_id, last_seq }: ThreadRecord,
    { seq, bytes, hasSystem }: { seq: number; bytes: number; hasSystem: boolean },
    session: ClientSession,
  ) =>
    isMatched(
      await threads.updateOne(
        { _id, user_id, ...present, last_seq: last_seq ?? { $exists: false } },
        {
          $set: { last_seq: seq, ...(hasSystem ? { has_system: true } : {}) },
          $inc: { log_bytes: bytes },
          // The ids of imported entries can come back, and conversations in memory are found by them.
          $unset: { last_entry_id: 1 },
        },
        { session },
      ),
    ),

  /** For the retention: those whose time is over. */
  listDueOfAny: async (
    due: { expires_at: { $lt: Date } } | { public: true; updated_at: { $lt: Date } },
    most: number,
  ) =>
    threads
      .find({ ...due, ...present }, { user_id: 1, project_id: 1, created_at: 1 })
      .limit(most)
      .lean<Pick<ThreadRecord, '_id' | 'user_id' | 'project_id' | 'created_at'>[]>(),

  /** How its newest run has ended. */
  noteOutcome: async (id: string, outcome: ThreadRecord['last_outcome']) =>
    threads.updateOne({ _id: id }, { $set: { last_outcome: outcome } }),

  expireAtOfAny: async (id: string, expiresAt: Date) =>
    threads.updateOne({ _id: id }, { $set: { expires_at: expiresAt } }),

  /**
   * A write that conflicts with the deletion marker. False if it is being deleted, or another account than `of` has got it
   * meanwhile. The thread was found as its owner's.
   */
  lock: async (id: string, session: ClientSession, of: Partial<Pick<ThreadRecord, 'user_id'>> = {}) =>
    isMatched(await threads.updateOne({ _id: id, ...of, ...present }, { $inc: { holds: 1 } }, { session })),

  /**
   * The newest entry of the log; null if it is being deleted, or others (`byOthers`) may not continue it any more. The
   * thread was found as its owner's, or as one that its owner shares.
   */
  findNewest: async (id: string, { byOthers }: { byOthers: boolean }) =>
    threads
      .findOne({ _id: id, ...present, ...(byOthers ? continuedByAll : {}) }, { last_seq: 1, last_entry_id: 1 })
      .lean<Pick<ThreadRecord, 'last_seq' | 'last_entry_id'>>(),

  /** For a restored backup: when it was created, and imported. */
  madeOfAny: async (id: string) =>
    threads.findById(id, { created_at: 1, imported_at: 1 }).lean<Pick<ThreadRecord, 'created_at' | 'imported_at'>>(),

  /** A container of the caller's project that has not expired; each use moves its expiry. */
  findContainer: async (owner: UserInProject, id: string) =>
    threads.findOne(aliveContainer(owner, id), { container: 1 }).lean<ThreadRecord>(),

  /** Null if it has expired. */
  changeContainer: async (owner: UserInProject, id: string, $set: object) =>
    threads.findOneAndUpdate(aliveContainer(owner, id), { $set }, { returnDocument: 'after' }).lean<ThreadRecord>(),

  /**
   * Whether what is said in a thread stays: not in one that is deleted by itself, or is asked in one. For tools, of
   * their run.
   */
  async isRetainedOfAny(id: string): Promise<boolean> {
    const thread = await threads
      .findOne({ _id: id }, { expires_at: 1, asked_from: 1 })
      .lean<Pick<ThreadRecord, 'expires_at' | 'asked_from'>>()
    if (thread?.expires_at !== undefined) return false
    const above = { _id: { $in: thread?.asked_from ?? [] }, expires_at: { $exists: true } }
    return above._id.$in.length === 0 || (await threads.exists(above)) === null
  },

  /** The conversations of an account in a project, one by one. Those below others are found with them. */
  openOwned: (his: Pick<ThreadRecord, 'user_id' | 'project_id'>, batchSize: number) =>
    threads
      .find({ ...his, public: false, asked_from: { $exists: false }, ...present })
      .lean<ThreadRecord>()
      .cursor({ batchSize }),

  isPresentOfAny: async (id: string) => (await threads.exists({ _id: id, ...present })) !== null,

  isPresent: async ({ userId, projectId }: UserInProject, id: string) =>
    (await threads.exists({ _id: id, user_id: userId, project_id: projectId, ...present })) !== null,

  /** Also one that is being deleted. */
  hasOwned: async (userId: string, id: string) => (await threads.exists({ _id: id, user_id: userId })) !== null,
})
