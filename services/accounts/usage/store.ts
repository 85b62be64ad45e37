import { hasOwnBytes } from '../../../domain/knowledge/project-files.ts'
import type { ProjectRecord } from '../../../domain/records/project.ts'
import type { Usage } from '../../../domain/records/run.ts'
import type { Collections } from '../../collections.ts'

/** What a cache was written is part of the cost only. */
export type Shown = Required<Omit<Usage, 'cache_write_tokens'>>
export type Row = Shown & { runs: number }
type GroupedRow = Row &
  Pick<Usage, 'cache_write_tokens'> & { _id: { assistant: string; model?: string; public: boolean } }

export interface ThreadUsage extends Shown {
  thread_id: string
  runs: number
}

const threadsShown = 100
const rowsRead = 10_000
const day = { $dateToString: { format: '%Y-%m-%d', date: '$created_at' } }

const sums = {
  runs: { $sum: 1 },
  prompt_tokens: { $sum: '$usage.prompt_tokens' },
  completion_tokens: { $sum: '$usage.completion_tokens' },
  total_tokens: { $sum: '$usage.total_tokens' },
  cached_tokens: { $sum: '$usage.cached_tokens' },
  cache_write_tokens: { $sum: '$usage.cache_write_tokens' },
  reasoning_tokens: { $sum: '$usage.reasoning_tokens' },
}

/** Imported runs cost nothing here. */
const own = (userId: string, since: Date | undefined) => ({
  user_id: userId,
  imported: { $ne: true },
  ...(since === undefined ? {} : { created_at: { $gte: since } }),
})

export type UsageCollections = Pick<Collections, 'projects' | 'files' | 'runs'>

/** Statements that sum what an account has and what its runs have used, `since` a time or ever. */
export const usageStore = ({ projects, files, runs }: UsageCollections) => ({
  listWork: async (userId: string) =>
    projects.find({ user_id: userId }, { work: 1 }).lean<Pick<ProjectRecord, 'work'>[]>(),

  async countFiles(userId: string): Promise<number> {
    const [stored] = await files.aggregate<{ files: number }>([
      { $match: { user_id: userId, ...hasOwnBytes } },
      { $group: { _id: null, files: { $sum: { $cond: [{ $eq: ['$status', 'uploading'] }, 0, 1] } } } },
    ])
    return stored?.files ?? 0
  },

  sumAll: async (userId: string, since: Date | undefined) =>
    runs.aggregate<Row>([{ $match: own(userId, since) }, { $group: { _id: null, ...sums } }]),

  /** The threads with the most tokens. */
  sumByThread: async (userId: string, since: Date | undefined) =>
    runs.aggregate<ThreadUsage & { _id: string }>([
      { $match: own(userId, since) },
      { $group: { _id: '$thread_id', ...sums } },
      { $sort: { total_tokens: -1, _id: 1 } },
      { $limit: threadsShown },
    ]),

  sumByDay: async (userId: string, since: Date) =>
    runs.aggregate<Row & { _id: string }>([
      { $match: own(userId, since) },
      { $group: { _id: day, ...sums } },
      { $sort: { _id: 1 } },
    ]),

  /** One row for each pair of assistant and model, private and public. */
  sumByModel: async (userId: string, since: Date | undefined) =>
    runs.aggregate<GroupedRow>([
      { $match: { ...own(userId, since), usage_by_model: { $exists: false } } },
      { $group: { _id: { assistant: '$assistant_id', model: '$model', public: '$public' }, ...sums } },
      { $limit: rowsRead },
    ]),

  /** Of runs that several models answered, each model's tokens. The run itself is counted once, with its last model. */
  sumByModels: async (userId: string, since: Date | undefined) =>
    runs.aggregate<GroupedRow>([
      { $match: { ...own(userId, since), usage_by_model: { $exists: true } } },
      { $unwind: '$usage_by_model' },
      {
        $group: {
          _id: { assistant: '$assistant_id', model: '$usage_by_model.model', public: '$public' },
          runs: { $sum: { $cond: [{ $eq: ['$usage_by_model.model', '$model'] }, 1, 0] } },
          prompt_tokens: { $sum: '$usage_by_model.prompt_tokens' },
          completion_tokens: { $sum: '$usage_by_model.completion_tokens' },
          total_tokens: { $sum: '$usage_by_model.total_tokens' },
          cached_tokens: { $sum: '$usage_by_model.cached_tokens' },
          cache_write_tokens: { $sum: '$usage_by_model.cache_write_tokens' },
          reasoning_tokens: { $sum: '$usage_by_model.reasoning_tokens' },
        },
      },
      { $limit: rowsRead },
    ]),

  /** One row for each day and model. */
  sumCosts: async (userId: string, since: Date) =>
    runs.aggregate<{ _id: { day: string; model?: string } } & Usage>([
      { $match: { ...own(userId, since), usage: { $exists: true } } },
      { $set: { parts: { $ifNull: ['$usage_by_model', [{ $mergeObjects: ['$usage', { model: '$model' }] }]] } } },
      { $unwind: '$parts' },
      {
        $group: {
          _id: { day, model: '$parts.model' },
          prompt_tokens: { $sum: '$parts.prompt_tokens' },
          completion_tokens: { $sum: '$parts.completion_tokens' },
          cached_tokens: { $sum: '$parts.cached_tokens' },
          cache_write_tokens: { $sum: '$parts.cache_write_tokens' },
        },
      },
      { $limit: rowsRead },
    ]),
})
