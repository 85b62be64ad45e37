import type { ClientSession } from 'mongoose'
import type { DeletionTarget, StoreCounts } from '../../domain/contracts/deletion.ts'
import type { MemberRecord, ProjectRecord } from '../../domain/records/project.ts'
import type { ReceiptRecord } from '../../domain/records/receipt.ts'
import { type RunKey, type RunRecord, openRunStatuses, runKey } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import type { Members } from '../owned-data/data-store.ts'
import { type Grouped, groupedMembers, groupsOf } from '../owner.ts'
import { isDeleted } from '../stores/results.ts'

export type OwnerCollections = Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads'>

const present = { deleting: { $ne: true } } as const
/** Only marked records: a user that a token created again after the deletion is another one. */
const marked = { deleting: true } as const
/** `holds` is incremented too, so that the statement is a change even if the marker is set already. */
export const setMarker = { $set: { deleting: true }, $inc: { holds: 1 } }
const isOpen = { status: { $in: [...openRunStatuses] } }
const quotaMembers = { user_id: 1, public: 1, counted: 1 } as const
type CountedThread = Pick<ThreadRecord, '_id' | keyof typeof quotaMembers>

const idsOf = (records: { _id: string }[]) => records.map(({ _id }) => _id)
const ownerOf = (record: { user_id: string } | null) => (record === null ? null : { userId: record.user_id })

/** Which records of each kind a deletion removes. */
interface OwnedFilters {
  projects: object
  assistants: object
  threads: object
}

/** Statements on owners that are deleted; each is of any user, because a workflow has been told what is deleted. */
export const deletedOwnerStore = ({ users, projects, assistants, threads }: OwnerCollections) => ({
  /** Whose it is; an account is marked by that. Null if it is gone or not due. */
  async markRootOfAny({ kind, id }: DeletionTarget, due: object): Promise<{ userId: string } | null> {
    const root = { _id: id, ...due }
    const owner = { user_id: 1 } as const
    switch (kind) {
      case 'account': {
        const user = await users.findOneAndUpdate(root, setMarker, { projection: { _id: 1 } }).lean()
        return user === null ? null : { userId: user._id }
      }
      case 'project':
        return ownerOf(await projects.findOne(root, owner).lean())
      case 'assistant':
      case 'vector_store':
        return ownerOf(await assistants.findOne(root, owner).lean())
      case 'thread':
        return ownerOf(await threads.findOne(root, owner).lean())
    }
  },

  isAccountDeletingOfAny: async (id: string) => (await users.exists({ _id: id, ...marked })) !== null,

  heldProjects: async (userId: string) => idsOf(await projects.find({ user_id: userId }, { _id: 1 }).lean()),

  markedIdsOfAny: async (owned: OwnedFilters) => {
    const [projectIds, assistantIds, threadIds] = await Promise.all([
      projects.find({ ...owned.projects, ...marked }, { _id: 1 }).lean(),
      assistants.find({ ...owned.assistants, ...marked }, { _id: 1 }).lean(),
      threads.find({ ...owned.threads, ...marked }, { _id: 1 }).lean(),
    ])
    return { projectIds: idsOf(projectIds), assistantIds: idsOf(assistantIds), threadIds: idsOf(threadIds) }
  },

  markedAssistantsOfAny: async (filter: object) =>
    idsOf(await assistants.find({ ...filter, ...marked }, { _id: 1 }).lean()),

  /** Marked or not: records that were created beside the marker count as left. */
  async countOfAny(owned: OwnedFilters, userIds: string[]): Promise<StoreCounts> {
    const [threadCount, assistantCount, storeCount, projectCount, userCount] = await Promise.all([
      threads.countDocuments(owned.threads),
      assistants.countDocuments({ ...owned.assistants, kind: { $ne: 'vector_store' } }),
      assistants.countDocuments({ ...owned.assistants, kind: 'vector_store' }),
      projects.countDocuments(owned.projects),
      userIds.length > 0 ? users.countDocuments({ _id: { $in: userIds } }) : 0,
    ])
    return {
      threads: threadCount,
      assistants: assistantCount,
      vector_stores: storeCount,
      projects: projectCount,
      users: userCount,
    }
  },

  /** False if it is gone already. Of a thread, what tells whether it took a place of the quota. */
  async removeRootOfAny({ kind, id }: DeletionTarget, session: ClientSession): Promise<boolean | CountedThread> {
    const root = { _id: id, ...marked }
    switch (kind) {
      case 'account':
        return isDeleted(await users.deleteOne(root, { session }))
      case 'project':
        return isDeleted(await projects.deleteOne(root, { session }))
      case 'assistant':
      case 'vector_store':
        return isDeleted(await assistants.deleteOne(root, { session }))
      case 'thread':
        return (
          (await threads.findOneAndDelete(root, { session, projection: quotaMembers }).lean<CountedThread>()) ?? false
        )
    }
  },

  someThreadsOfAny: async (filter: object, most: number) =>
    idsOf(
      await threads
        .find({ ...filter, ...marked }, { _id: 1 })
        .limit(most)
        .lean(),
    ),

  /** Those of these that are still there. */
  async removeThreadsOfAny(ids: string[], session: ClientSession): Promise<CountedThread[]> {
    const here = await threads.find({ _id: { $in: ids } }, quotaMembers, { session }).lean<CountedThread[]>()
    await threads.deleteMany({ _id: { $in: idsOf(here) } }, { session })
    return here
  },
})

/** Statements on the receipts of deletions, by their ids, which the workflow of each knows. */
export const deletionReceiptStore = ({ receipts }: Pick<Collections, 'receipts'>) => ({
  findOfAny: async (id: string) => receipts.findById(id).lean<ReceiptRecord>(),

  findOwned: async (userId: string, id: string) => receipts.findOne({ _id: id, user_id: userId }).lean<ReceiptRecord>(),

  newestOf: async (subjectId: string) =>
    receipts.findOne({ subject_id: subjectId }).sort({ created_at: -1, _id: -1 }).lean<ReceiptRecord>(),

  change: async (id: string, $set: Partial<ReceiptRecord>, session?: ClientSession) =>
    receipts.updateOne({ _id: id }, { $set }, session === undefined ? {} : { session }),

  /** Also one that is there, except for when it began. */
  begin: async (id: string, $set: Partial<ReceiptRecord>) =>
    receipts.updateOne({ _id: id }, { $set, $setOnInsert: { created_at: new Date() } }, { upsert: true }),

  /** The payments ended. A later round does not find the purchases any more. */
  noteSubscriptions: async (id: string, ended: number) =>
    receipts.updateOne({ _id: id }, { $max: { 'found.subscriptions': ended }, $unset: { waiting_for: 1 } }),

  /** What becomes of a shared project, once, before the rest of the receipt is written. */
  async noteProject(id: string, userId: string, outcome: NonNullable<ReceiptRecord['projects']>[number]) {
    const receipt = { kind: 'account', subject_id: userId, user_id: userId, status: 'running' } as const
    await receipts.updateOne({ _id: id }, { $setOnInsert: { ...receipt, created_at: new Date() } }, { upsert: true })
    await receipts.updateOne(
      { _id: id, 'projects.project_id': { $ne: outcome.project_id } },
      { $push: { projects: outcome } },
    )
  },
})

/** Statements on what is requested to be deleted: the caller checks whose it is. */
export const requestedStore = ({ projects, assistants, threads }: Omit<OwnerCollections, 'users'>) => ({
  findThreadOfAny: async (id: string) => threads.findOne({ _id: id }).lean<ThreadRecord>(),

  findProjectOfAny: async (id: string) => projects.findOne({ _id: id }).lean<ProjectRecord>(),

  hasVectorStore: async (projectId: string, id: string) =>
    (await assistants.exists({ _id: id, project_id: projectId, kind: 'vector_store' })) !== null,

  countThreads: async (projectId: string) => threads.countDocuments({ project_id: projectId }),
})

/** Statements on the runs of threads that are deleted, and of users in chats of others. */
export const endedRunStore = ({ runs, threads }: Pick<Collections, 'runs' | 'threads'>) => {
  const inChatsOfOthers = (userIds: string[]) => ({ user_id: { $in: userIds }, in_chat_of_other: true as const })
  return {
    /** Open ones, and those that have ended since then. */
    listRecent: async (threadIds: string[], since: Date) =>
      runs
        .find(
          { thread_id: { $in: threadIds }, $or: [isOpen, { finished_at: { $gte: since } }] },
          { thread_id: 1, finished_at: 1, budgets: 1 },
        )
        .lean<Pick<RunRecord, '_id' | 'thread_id' | 'finished_at' | 'budgets'>[]>(),

    idsInThreads: async (threadIds: string[]) =>
      idsOf(await runs.find({ thread_id: { $in: threadIds } }, { _id: 1 }).lean()),

    openInChatsOfOthers: (userIds: string[]) =>
      runs.find(inChatsOfOthers(userIds), { thread_id: 1 }).lean<RunKey>().cursor(),

    countInChatsOfOthers: async (userIds: string[]) => runs.countDocuments(inChatsOfOthers(userIds)),

    /** It becomes that of the owner of its thread, or goes if that is gone. */
    async giveToOwnerOfThread(key: RunKey): Promise<void> {
      const thread = await threads.findOne({ _id: key.thread_id }, { user_id: 1 }).lean()
      if (thread === null) await runs.deleteOne(runKey(key))
      else await runs.updateOne(runKey(key), { $set: { user_id: thread.user_id }, $unset: { in_chat_of_other: 1 } })
    },
  }
}

/** Statements on the thread of an answer that is not to be stored. */
export const unstoredStore = (collections: Pick<Collections, UnstoredName | 'threads'>) => ({
  listRuns: async (threadId: string) =>
    collections.runs
      .find({ thread_id: threadId }, { thread_id: 1, status: 1, budgets: 1 })
      .lean<Pick<RunRecord, '_id' | 'thread_id' | 'status' | 'budgets'>[]>(),

  hasDelegated: async (threadId: string) => (await collections.threads.exists({ asked_from: threadId })) !== null,

  /** With all that belongs to it. False if it is to be stored, or is being deleted. */
  async erase(threadId: string, session: ClientSession): Promise<boolean> {
    const { threads, runs, checkpoints, toolCalls, attachments, feedback } = collections
    const unstored = { _id: threadId, expires_at: { $exists: true }, ...present }
    if (!isDeleted(await threads.deleteOne(unstored, { session }))) return false
    const ofThread = { thread_id: threadId }
    await runs.deleteMany(ofThread, { session })
    await checkpoints.deleteMany(ofThread, { session })
    await toolCalls.deleteMany(ofThread, { session })
    await attachments.deleteMany(ofThread, { session })
    await feedback.deleteMany(ofThread, { session })
    return true
  },
})

type UnstoredName = 'runs' | 'checkpoints' | 'toolCalls' | 'attachments' | 'feedback'

/** Statements on what projects of others keep of users who are deleted. */
export const traceStore = ({ users, projects, budgets }: Pick<Collections, 'users' | 'projects' | 'budgets'>) => ({
  /** With `verified`, those that they have proved: others are not theirs. */
  async emailsOf(ids: string[], only: { verified?: true } = {}): Promise<string[]> {
    const found = await users.find({ _id: { $in: ids }, ...only }, { email: 1 }).lean<Pick<UserRecord, 'email'>[]>()
    return found.flatMap(({ email }) => email ?? [])
  },

  listNaming: async (ids: string[], emails: string[]) =>
    projects
      .find(
        {
          $or: [
            { 'members.user_id': { $in: ids } },
            { 'members.invitation.for_user': { $in: ids } },
            { 'members.email': { $in: emails } },
            { former_users: { $in: ids } },
          ],
          ...present,
        },
        { members: 1, former_users: 1 },
      )
      .lean<ProjectRecord[]>(),

  async removeFromProject(
    id: string,
    ids: string[],
    isNamed: (member: MemberRecord) => boolean,
    session: ClientSession,
  ): Promise<void> {
    const project = await projects.findOne({ _id: id }, { members: 1 }, { session }).lean<ProjectRecord>()
    const members = (project?.members ?? []).filter((member) => !isNamed(member))
    const change = { $set: { members }, $pull: { former_users: { $in: ids } }, $inc: { holds: 1 } }
    await projects.updateOne({ _id: id }, change, { session })
  },

  removeBudgets: async (ids: string[], session?: ClientSession) =>
    budgets.deleteMany({ _id: { $in: ids } }, session === undefined ? {} : { session }),

  listInGroups: async (ids: string[]) =>
    users
      .find(
        {
          _id: { $in: ids },
          $or: [{ group_ids: { $exists: true } }, { claimed_group_ids: { $exists: true } }],
        },
        groupedMembers,
      )
      .lean<Grouped[]>(),

  projectsByGroups: async (user: Grouped) =>
    idsOf(await projects.find({ 'members.group_id': { $in: groupsOf(user) }, ...present }, { _id: 1 }).lean()),
})

/** The projects, assistants and threads that a deletion removes, including the root. */
export async function ownedBy(collections: OwnerCollections, { kind, id }: DeletionTarget): Promise<OwnedFilters> {
  const nothing = { _id: { $in: [] as string[] } }
  switch (kind) {
    case 'account': {
      // With its projects go the threads of their members.
      const held = await deletedOwnerStore(collections).heldProjects(id)
      const threads = { $or: [{ user_id: id }, { project_id: { $in: held } }] }
      return { projects: { user_id: id }, assistants: { user_id: id }, threads }
    }
    case 'project':
      return { projects: { _id: id }, assistants: { project_id: id }, threads: { project_id: id } }
    case 'assistant':
      // Its public threads belong to it, with those below them; private threads belong to their users and only lose the
      // reference.
      return {
        projects: nothing,
        assistants: { _id: id },
        threads: { $or: [{ assistant_id: id, public: true }, { asked_for: id }] },
      }
    case 'vector_store':
      return { projects: nothing, assistants: { _id: id }, threads: nothing }
    case 'thread':
      return { projects: nothing, assistants: nothing, threads: { $or: [{ _id: id }, { asked_from: id }] } }
  }
}

/** The current members. Complete once the deletion markers are set, because nothing can be created below them. */
export async function membersOf(collections: OwnerCollections, target: DeletionTarget): Promise<Members> {
  const userIds = target.kind === 'account' ? [target.id] : []
  return { userIds, ...(await deletedOwnerStore(collections).markedIdsOfAny(await ownedBy(collections, target))) }
}
