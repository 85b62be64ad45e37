import { firstIdAt } from '../../domain/ids.ts'
import { hasOwnBytes } from '../../domain/knowledge/project-files.ts'
import { accessModes } from '../../domain/records/assistant.ts'
import { openFileStatuses } from '../../domain/records/file.ts'
import type { ProjectRecord } from '../../domain/records/project.ts'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import { type RunRecord, type RunStatus, type Usage, runStatuses } from '../../domain/records/run.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import type { PageRange } from '../page.ts'
import { isMatched } from '../stores/results.ts'
import { type ListedRun, withoutInput } from '../stores/runs.ts'

const recentMs = 30 * 86_400_000
/** The access modes with which others can use an assistant; `public` alone lets them read it. */
const openModes = accessModes.filter((mode) => mode !== 'authenticated')

/** Counts of users, projects, assistants, threads, runs, files and failed deletions. */
export async function systemStats({ users, projects, assistants, threads, runs, files, receipts }: Collections) {
  const since = new Date(Date.now() - recentMs)
  const [
    userTotal,
    unverified,
    active,
    projectTotal,
    assistantTotal,
    openAssistants,
    threadTotal,
    publicThreads,
    statuses,
    fileStats,
    failed,
  ] = await Promise.all([
    users.estimatedDocumentCount(),
    users.countDocuments({ verified: false }),
    users.countDocuments({ last_active_at: { $gte: since } }),
    projects.estimatedDocumentCount(),
    assistantCount(assistants),
    assistants.countDocuments({ $or: [{ public: true }, { access_mode: { $in: openModes } }] }),
    threads.estimatedDocumentCount(),
    threads.countDocuments({ public: true }),
    Promise.all(runStatuses.map(async (status) => [status, await executedRuns(runs, status)] as const)),
    files.aggregate<{ count: number; bytes: number }>([
      { $match: hasOwnBytes },
      { $group: { _id: null, count: { $sum: 1 }, bytes: { $sum: '$size' } } },
    ]),
    receipts.countDocuments({ status: 'failed' }),
  ])
  const [sum] = fileStats
  return {
    users: { total: userTotal, verified: userTotal - unverified, unverified, active_last_30_days: active },
    projects: { total: projectTotal },
    assistants: { total: assistantTotal, public: openAssistants },
    // No thread is archived; the answer keeps its shape.
    threads: { total: threadTotal, public: publicThreads, archived: 0 },
    runs: { total: statuses.reduce((total, [, number]) => total + number, 0), by_status: Object.fromEntries(statuses) },
    files: { total: sum?.count ?? 0, bytes: sum?.bytes ?? 0 },
    deletions: { failed },
  }
}

/** Without vector stores, of which an index knows the number. */
async function assistantCount(assistants: Collections['assistants']): Promise<number> {
  const [all, stores] = await Promise.all([
    assistants.estimatedDocumentCount(),
    assistants.countDocuments({ kind: 'vector_store' }),
  ])
  return Math.max(0, all - stores)
}

/** Both counts are taken from an index; a count of the runs that are not imported would read all of them. */
async function executedRuns(runs: Collections['runs'], status: RunStatus): Promise<number> {
  const [all, imported] = await Promise.all([
    runs.countDocuments({ status }),
    runs.countDocuments({ imported: true, status }),
  ])
  return Math.max(0, all - imported)
}

const shown = { password_hash: 0, verification: 0 } as const
const targetMembers = { user_id: 1, deleting: 1, created_at: 1 } as const
/** The figures of one day; `_id` is the day. */
type DayOfRuns = Usage & { _id: string; runs: number; failed_runs: number; first_token_ms: number | null }

/** Statements on the accounts of all users, for operators: each function is of any owner. */
export const operatedUserStore = ({ users }: Pick<Collections, 'users'>) => ({
  findByAddressOfAny: async (email: string) => users.findOne({ email }, shown).lean<UserRecord>(),

  findOfAny: async (id: string) => users.findById(id, shown).lean<UserRecord>(),

  /** Those that a filter selects, in an order, and how many there are. */
  async listOfAny(
    filter: object,
    order: Record<string, 1 | -1>,
    { limit, offset }: PageRange,
    options: { maxTimeMS?: number } = {},
  ) {
    const [found, total] = await Promise.all([
      users.find(filter, shown, options).sort(order).skip(offset).limit(limit).lean<UserRecord[]>(),
      users.countDocuments(filter, options),
    ])
    return { users: found, total }
  },

  idsOfAny: async (filter: object, limit: number): Promise<string[]> =>
    (await users.find(filter, { _id: 1 }).sort({ _id: 1 }).limit(limit).lean()).map(({ _id }) => _id),

  existsOfAny: async (id: string) => (await users.exists({ _id: id })) !== null,

  isDeactivatedOfAny: async (id: string) =>
    (await users.exists({ _id: id, deactivated_at: { $exists: true } })) !== null,

  /** Null: as the settings say. False if there is no such account. */
  setStorageMaxOfAny: async (id: string, megabytes: number | null) =>
    isMatched(
      await users.updateOne(
        { _id: id },
        megabytes === null ? { $unset: { storage_max_mb: 1 } } : { $set: { storage_max_mb: megabytes } },
      ),
    ),

  /** The first time and reason are kept: false then. */
  suspendOfAny: async (id: string, reason: string) =>
    isMatched(
      await users.updateOne(
        { _id: id, suspended_at: { $exists: false } },
        { $set: { suspended_at: new Date(), suspension_reason: reason } },
      ),
    ),

  restoreOfAny: async (id: string) =>
    users.updateOne({ _id: id }, { $unset: { suspended_at: 1, suspension_reason: 1 } }),

  /** How many came on each day. */
  countJoinedOfAny: async (since: Date, day: object, maxTimeMS: number) =>
    users
      .aggregate<{ _id: string; count: number }>([
        { $match: { created_at: { $gte: since } } },
        { $group: { _id: day, count: { $sum: 1 } } },
      ])
      .option({ maxTimeMS }),
})

/** The same on what they have. */
export const operatedStore = ({ runs, purchases }: Pick<Collections, 'runs' | 'purchases'>) => ({
  listNewestRunsOfAny: async (userId: string, most: number) =>
    runs.find({ user_id: userId }, withoutInput).sort({ _id: -1 }).limit(most).lean<ListedRun[]>(),

  listPurchasesOfAny: async (userId: string, most: number) =>
    purchases.find({ user_id: userId }).sort({ created_at: -1 }).limit(most).lean<PurchaseRecord[]>(),
})

export const operatedRunStore = ({ runs }: Pick<Collections, 'runs'>) => ({
  /** Those that work, without those that wait for a decision. */
  listWorkingOfAny: async (userId: string, most: number) =>
    runs
      .find({ user_id: userId, status: { $in: ['pending', 'running'] } })
      .limit(most)
      .lean<RunRecord[]>(),

  /** By day. Ids of runs are time-ordered, and every collection has their index. */
  sumByDayOfAny: async (since: Date, day: object, maxTimeMS: number) =>
    runs
      .aggregate<DayOfRuns>([
        { $match: { _id: { $gte: firstIdAt(since) }, imported: { $ne: true } } },
        {
          $group: {
            _id: day,
            runs: { $sum: 1 },
            failed_runs: { $sum: { $cond: [{ $eq: ['$status', 'error'] }, 1, 0] } },
            prompt_tokens: { $sum: '$usage.prompt_tokens' },
            completion_tokens: { $sum: '$usage.completion_tokens' },
            total_tokens: { $sum: '$usage.total_tokens' },
            first_token_ms: { $avg: '$first_token_ms' },
          },
        },
      ])
      .option({ maxTimeMS }),
})

/** Open files of all users, without their names. */
export const listOpenFilesOfAny = async ({ files }: Pick<Collections, 'files'>, most: number) =>
  files
    .find(
      { status: { $in: [...openFileStatuses] } },
      { ingestion_id: 1, user_id: 1, assistant_id: 1, size: 1, status: 1, created_at: 1, updated_at: 1 },
    )
    .limit(most)
    .lean()

/** All projects, one by one. */
export const openProjectsOfAny = ({ projects }: Pick<Collections, 'projects'>) =>
  projects.find({}, targetMembers).lean<Pick<ProjectRecord, '_id' | keyof typeof targetMembers>>().cursor()
