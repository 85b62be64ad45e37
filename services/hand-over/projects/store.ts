import type { ClientSession } from 'mongoose'
import { projectOwner } from '../../../domain/knowledge/project-files.ts'
import { budgetId, memberBudgetsOf } from '../../../domain/records/budget.ts'
import { isUploaded } from '../../../domain/records/file.ts'
import type { ProjectRecord } from '../../../domain/records/project.ts'
import { openRunStatuses } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { Collections } from '../../collections.ts'
import { mcpLoginStore } from '../../mcp-logins/store.ts'
import { inBatches } from '../../owned-data/data-store.ts'
import { memberNamed } from '../../person-named.ts'
import { countsInQuota, releaseQuota } from '../../threads/create-thread.ts'
import type { RunInTransaction } from '../../transactions.ts'

type MovedCollections = Pick<
  Collections,
  | 'users'
  | 'projects'
  | 'assistants'
  | 'files'
  | 'fileBatches'
  | 'sources'
  | 'sourcePages'
  | 'budgets'
  | 'memories'
  | 'threads'
  | 'runs'
  | 'attachments'
  | 'schedules'
>

export interface ProjectMovesDeps {
  collections: MovedCollections
  transaction: RunInTransaction
}

/** Whose account holds a project, before and after. */
interface Move {
  projectId: string
  from: string
  to: string
}

const asIs = { timestamps: false } as const
const threadsAtOnce = 200
/** Nobody looks after a project whose holder is suspended, deactivated or on his way out. */
const canLogIn = {
  deleting: { $ne: true },
  suspended_at: { $exists: false },
  deactivated_at: { $exists: false },
} as const

export type ProjectMoves = ReturnType<typeof createProjectMoves>

/** The statements by which a project goes to another account. */
export function createProjectMoves({ collections, transaction }: ProjectMovesDeps) {
  const { users, projects, assistants, threads, runs, schedules } = collections

  return {
    /** Within the transaction that decides who holds it. */
    async setHolder(project: ProjectRecord, changed: Partial<ProjectRecord>, session: ClientSession): Promise<void> {
      await projects.updateOne(
        { _id: project._id, user_id: project.user_id },
        { $set: changed, $unset: { default_assistant: 1, default_thread: 1, suspended: 1 }, $inc: { holds: 1 } },
        { session },
      )
    },

    read: async (projectId: string, session?: ClientSession): Promise<ProjectRecord | null> =>
      projects
        .findOne({ _id: projectId, deleting: { $ne: true } }, {}, session === undefined ? {} : { session })
        .lean<ProjectRecord>(),

    hasName: async (userId: string, name: string, session: ClientSession): Promise<boolean> =>
      (await projects.findOne({ user_id: userId, name }, { _id: 1 }, { session }).lean()) !== null,

    /** The projects that an account holds, of which others are members, or groups. */
    sharedOf: async (userId: string): Promise<ProjectRecord[]> =>
      projects
        .find({
          user_id: userId,
          $or: [{ 'members.user_id': { $exists: true } }, { 'members.group_id': { $exists: true } }],
          deleting: { $ne: true },
        })
        .sort({ created_at: 1, _id: 1 })
        .lean<ProjectRecord[]>(),

    /** Those whose account has changed, and of which records may name the one before. */
    unfinished: async (filter: { 'moving.from'?: string } = {}): Promise<ProjectRecord[]> =>
      projects
        .find({ moving: { $exists: true }, deleting: { $ne: true }, ...filter })
        .limit(threadsAtOnce)
        .lean<ProjectRecord[]>(),

    countUnfinished: async (userIds: string[]): Promise<number> =>
      projects.countDocuments({ 'moving.from': { $in: userIds }, deleting: { $ne: true } }),

    async finished(projectId: string, from: string): Promise<void> {
      await projects.updateOne({ _id: projectId, 'moving.from': from }, { $unset: { moving: 1 } })
    },

    /** Who of these can take a project over. */
    async usable(userIds: string[]): Promise<Set<string>> {
      const found = await users.find({ _id: { $in: userIds }, ...canLogIn }, { _id: 1 }).lean()
      return new Set(found.map(({ _id }) => _id))
    },

    /** The oldest account in a group that can take a project over, other than this one. */
    async usableInGroup(groupId: string, exceptId: string): Promise<string | undefined> {
      const inGroup = { $or: [{ group_ids: groupId }, { claimed_group_ids: groupId }] }
      const found = await users
        .findOne({ ...inGroup, ...canLogIn, _id: { $ne: exceptId } }, { _id: 1 })
        .sort({ created_at: 1, _id: 1 })
        .lean<{ _id: string }>()
      return found?._id
    },

    assistantsOf: async (projectId: string): Promise<string[]> =>
      (await assistants.find({ project_id: projectId }, { _id: 1 }).lean()).map(({ _id }) => _id),

    /** What its files take. */
    async bytesOf(projectId: string, assistantIds: string[]): Promise<number> {
      const [sum] = await collections.files.aggregate<{ bytes: number }>([
        {
          $match: { assistant_id: { $in: [...assistantIds, projectOwner(projectId)] }, source_id: { $exists: false } },
        },
        { $group: { _id: null, bytes: { $sum: '$size' } } },
      ])
      return sum?.bytes ?? 0
    },

    /** What belongs to the project goes; what belongs to persons stays theirs. Safe to repeat. */
    async moveRecords(move: Move, assistantIds: string[]): Promise<void> {
      const { projectId, from, to } = move
      const moved = { $set: { user_id: to } }
      const ofAssistants = { assistant_id: { $in: assistantIds }, user_id: from }
      const uploaded = { created_by: { $exists: false }, ...isUploaded }
      await collections.files.updateMany(
        { assistant_id: { $in: [...assistantIds, projectOwner(projectId)] }, user_id: from, ...uploaded },
        { $set: { created_by: from } },
        asIs,
      )
      await collections.files.updateMany(
        { assistant_id: { $in: [...assistantIds, projectOwner(projectId)] }, user_id: from },
        moved,
        asIs,
      )
      await collections.fileBatches.updateMany(ofAssistants, moved, asIs)
      await collections.sourcePages.updateMany(ofAssistants, moved, asIs)
      const learnt = { $set: { user_id: to, check_at: new Date() }, $inc: { revision: 1 } }
      const hisSources = { ...ofAssistants, created_by: { $exists: false } }
      await collections.sources.updateMany(hisSources, { $set: { created_by: from } }, asIs)
      await collections.sources.updateMany(ofAssistants, learnt, asIs)
      await collections.memories.updateMany({ ...ofAssistants, caller: { $exists: true } }, moved, asIs)
      const budgets = [budgetId('project', projectId), ...assistantIds.map((id) => budgetId('public', id))]
      const ofMembers = { _id: memberBudgetsOf(projectId) }
      await collections.budgets.updateMany({ $or: [{ _id: { $in: budgets } }, ofMembers], user_id: from }, moved, asIs)
      await moveConversations(move, assistantIds)
      await ofPersons(move)
      await mcpLoginStore(collections).endOf(projectId, from)
      await schedules.updateMany({ project_id: projectId, user_id: from, awaits_takeover: true }, learnt, asIs)
      // Last: by them, everything else is found. Whoever held it made what has no other maker.
      await assistants.updateMany(
        { project_id: projectId, user_id: from, created_by: { $exists: false } },
        { $set: { created_by: from } },
        asIs,
      )
      await assistants.updateMany(
        { project_id: projectId, user_id: from },
        { ...moved, $unset: { suspended: 1 }, $inc: { holds: 1 } },
        asIs,
      )
    },
  }

  /** Those of public callers. */
  async function moveConversations({ projectId, from, to }: Move, assistantIds: string[]): Promise<void> {
    const ofPublic = { user_id: from, $or: [{ public: true }, { asked_for: { $in: assistantIds } }] }
    for (;;) {
      const found = await threads
        .find({ project_id: projectId, ...ofPublic }, { public: 1, counted: 1 })
        .limit(threadsAtOnce)
        .lean<Pick<ThreadRecord, '_id' | 'public' | 'counted'>[]>()
      if (found.length === 0) return
      await inBatches(
        found.map(({ _id }) => _id),
        async (ids) => {
          const of = { thread_id: { $in: ids }, user_id: from }
          await runs.updateMany(of, { $set: { user_id: to } }, asIs)
          await collections.attachments.updateMany(of, { $set: { user_id: to } }, asIs)
          await transaction(async (session) => {
            const those = { _id: { $in: ids }, user_id: from }
            const here = await threads.find(those, { public: 1, counted: 1 }, { session }).lean()
            await threads.updateMany(those, { $set: { user_id: to }, $inc: { holds: 1 } }, { session, ...asIs })
            const places = here.filter((thread) => countsInQuota(thread)).length
            await releaseQuota({ users }, { userId: from, places }, session)
            if (places > 0) await users.updateOne({ _id: to }, { $inc: { thread_counter: places } }, { session })
          })
        },
      )
    }
  }

  /** Whoever held it is a member like others now: his runs and schedules work for one. */
  async function ofPersons({ projectId, from }: Move): Promise<void> {
    const person = memberNamed(from)
    const his = { user_id: from, project_id: projectId }
    await schedules.updateMany({ ...his, person: 'owner' }, { $set: { person } }, asIs)
    await runs.updateMany(
      { ...his, status: { $in: [...openRunStatuses] }, 'acting.person': 'owner' },
      { $set: { 'acting.person': person } },
      asIs,
    )
  }
}
