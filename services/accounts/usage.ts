import { type ModelPrices, costOf } from '../../domain/model-prices.ts'
import { hasOwnBytes } from '../../domain/knowledge/project-files.ts'
import { isAssistant } from '../../domain/records/assistant.ts'
import type { ProjectRecord, Work } from '../../domain/records/project.ts'
import type { Usage } from '../../domain/records/run.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import { dayOf } from '../../domain/records/budget.ts'
import { AppError } from '../../domain/errors.ts'
import { storageMaxMbOf } from '../../domain/storage-max.ts'
import type { Collections } from '../collections.ts'
import { type StoredBytesCollections, createStoredBytes } from '../knowledge/stored-bytes.ts'
import { sumWork } from '../budgets/work.ts'
import type { ModelsNow } from '../models/live-models.ts'

/** What a cache was written is part of the cost only. */
type Shown = Required<Omit<Usage, 'cache_write_tokens'>>

export interface UserUsage extends Shown {
  thread_counter: number
  thread_max: number
  projects: number
  assistants: number
  files: number
  /** As the storage quota counts them. */
  storage_bytes: number
  /** What the files may take together; null without a limit. */
  storage_max_mb: number | null
  runs: number
  /** The threads with the most tokens, among those that exist. */
  threads: ThreadUsage[]
  /** The last days with runs, oldest first; days are in UTC. */
  days: (Shown & { date: string; runs: number; cost: number })[]
  /** The assistants that cost most. */
  assistants_used: (Row & { assistant_id: string; cost: number })[]
  /** The same for runs of public callers: the use of each public token. */
  public_assistants_used: (Row & { assistant_id: string; cost: number })[]
  /**
   * The models that cost most; the empty name stands for runs that asked no model, or that ended before models were
   * recorded.
   */
  models_used: (Row & { model: string; cost: number })[]
  /** For the files and sources of the projects that exist. */
  work: Work & { cost: number }
  /** At the prices in the current settings. */
  cost: number
  currency: string
}

type Row = Shown & { runs: number }
type GroupedRow = Row &
  Pick<Usage, 'cache_write_tokens'> & { _id: { assistant: string; model?: string; public: boolean } }

export interface ThreadUsage extends Shown {
  thread_id: string
  runs: number
}

const threadsShown = 100
const assistantsShown = 50
const modelsShown = 50
const rowsRead = 10_000
const daysShown = 30

export interface UsageSettings {
  storageMaxMb: number | undefined
}

interface UsedModels {
  models: ModelsNow
  /** Undefined if no embedding model is configured. */
  embeddingModel: string | undefined
}

const sums = {
  runs: { $sum: 1 },
  prompt_tokens: { $sum: '$usage.prompt_tokens' },
  completion_tokens: { $sum: '$usage.completion_tokens' },
  total_tokens: { $sum: '$usage.total_tokens' },
  cached_tokens: { $sum: '$usage.cached_tokens' },
  cache_write_tokens: { $sum: '$usage.cache_write_tokens' },
  reasoning_tokens: { $sum: '$usage.reasoning_tokens' },
}

type UsedCollections = Pick<Collections, 'users' | 'projects' | 'assistants' | 'files' | 'runs'> &
  StoredBytesCollections

/** What a user has now, and the tokens that models counted for runs that still exist. */
export function createUsage(
  collections: UsedCollections,
  { storageMaxMb }: UsageSettings,
  { models, embeddingModel }: UsedModels,
) {
  const { users, projects, assistants, files, runs } = collections
  const storedBytes = createStoredBytes(collections)

  /** With `days`, only the runs of the last days count, today included. */
  return async function usageOf(userId: string, days?: number): Promise<UserUsage> {
    const { prices } = models.current()
    const own = { user_id: userId }
    // Imported runs cost nothing here.
    const since = (count: number) => ({ created_at: { $gte: startOfDays(count) } })
    const ownRuns = { ...own, imported: { $ne: true }, ...(days === undefined ? {} : since(days)) }
    const day = { $dateToString: { format: '%Y-%m-%d', date: '$created_at' } }
    const [user, ownProjects, assistantCount, [stored], bytes, [totals], byThread, byDay, byOne, bySeveral, costs] =
      await Promise.all([
        users.findById(userId, { thread_counter: 1, thread_max: 1, storage_max_mb: 1 }).lean<UserRecord>(),
        projects.find(own, { work: 1 }).lean<Pick<ProjectRecord, 'work'>[]>(),
        assistants.countDocuments({ ...own, ...isAssistant }),
        files.aggregate<{ files: number }>([
          { $match: { ...own, ...hasOwnBytes } },
          {
            $group: {
              _id: null,
              files: { $sum: { $cond: [{ $eq: ['$status', 'uploading'] }, 0, 1] } },
            },
          },
        ]),
        storedBytes.of(userId),
        runs.aggregate<Row>([{ $match: ownRuns }, { $group: { _id: null, ...sums } }]),
        runs.aggregate<ThreadUsage & { _id: string }>([
          { $match: ownRuns },
          { $group: { _id: '$thread_id', ...sums } },
          { $sort: { total_tokens: -1, _id: 1 } },
          { $limit: threadsShown },
        ]),
        runs.aggregate<Row & { _id: string }>([
          { $match: { ...ownRuns, ...since(days ?? daysShown) } },
          { $group: { _id: day, ...sums } },
          { $sort: { _id: 1 } },
        ]),
        // One row for each pair of assistant and model, private and public: the lists below are made of these.
        runs.aggregate<GroupedRow>([
          { $match: { ...ownRuns, usage_by_model: { $exists: false } } },
          { $group: { _id: { assistant: '$assistant_id', model: '$model', public: '$public' }, ...sums } },
          { $limit: rowsRead },
        ]),
        // Of runs that several models answered, each model's tokens. The run itself is counted once, with its last model.
        runs.aggregate<GroupedRow>([
          { $match: { ...ownRuns, usage_by_model: { $exists: true } } },
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
        costsByDay({ runs, prices }, { ...ownRuns, ...since(days ?? daysShown) }, day),
      ])
    const rows = [...byOne, ...bySeveral].map(({ _id, ...row }) => ({
      ..._id,
      ...row,
      cost: costOf(prices, _id.model, row),
    }))
    const byAssistant = summed(rows, (row) => row.assistant)
    const byPublic = summed(
      rows.filter((row) => row.public),
      (row) => row.assistant,
    )
    const byModel = summed(rows, (row) => row.model ?? '')
    const firstDay = days === undefined ? {} : { since: dayOf(startOfDays(days)) }
    const work = sumWork(ownProjects, { prices, embeddingModel, ...firstDay })
    if (user === null) throw new AppError('not_found', 'This account no longer exists.')
    return {
      thread_counter: user.thread_counter,
      thread_max: user.thread_max,
      projects: ownProjects.length,
      assistants: assistantCount,
      files: stored?.files ?? 0,
      storage_bytes: bytes,
      storage_max_mb: storageMaxMbOf(user, storageMaxMb) ?? null,
      runs: totals?.runs ?? 0,
      prompt_tokens: totals?.prompt_tokens ?? 0,
      completion_tokens: totals?.completion_tokens ?? 0,
      total_tokens: totals?.total_tokens ?? 0,
      cached_tokens: totals?.cached_tokens ?? 0,
      reasoning_tokens: totals?.reasoning_tokens ?? 0,
      threads: byThread.map(({ _id, ...counts }) => ({ ...counts, thread_id: _id })),
      days: byDay.map(({ _id, ...counts }) => ({ ...counts, date: _id, cost: costs.get(_id) ?? 0 })),
      assistants_used: byAssistant.slice(0, assistantsShown).map(([id, sum]) => ({ assistant_id: id, ...sum })),
      public_assistants_used: byPublic.slice(0, assistantsShown).map(([id, sum]) => ({ assistant_id: id, ...sum })),
      models_used: byModel.slice(0, modelsShown).map(([model, sum]) => ({ model, ...sum })),
      work,
      cost: byModel.reduce((total, [, { cost }]) => total + cost, work.cost),
      currency: prices.currency,
    }
  }
}

/** Prices are by model, so a day's cost is made of one row for each model. */
async function costsByDay(
  { runs, prices }: { runs: UsedCollections['runs']; prices: ModelPrices },
  filter: object,
  day: object,
): Promise<Map<string, number>> {
  const rows = await runs.aggregate<{ _id: { day: string; model?: string } } & Usage>([
    { $match: { ...filter, usage: { $exists: true } } },
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
  ])
  const costs = new Map<string, number>()
  for (const { _id, ...row } of rows) costs.set(_id.day, (costs.get(_id.day) ?? 0) + costOf(prices, _id.model, row))
  return costs
}

/** Midnight in UTC of the first of so many days, of which today is the last. */
function startOfDays(count: number): Date {
  const dayMs = 86_400_000
  return new Date((Math.floor(Date.now() / dayMs) - count + 1) * dayMs)
}

/** Sums of the rows with the same key, those that cost most tokens first. */
function summed<R extends Row & { cost: number }>(rows: R[], keyOf: (row: R) => string) {
  const groups = [...Map.groupBy(rows, keyOf)].map(([key, members]) => {
    const sum = (member: keyof Row | 'cost') => members.reduce((total, row) => total + row[member], 0)
    const total = {
      runs: sum('runs'),
      prompt_tokens: sum('prompt_tokens'),
      completion_tokens: sum('completion_tokens'),
      total_tokens: sum('total_tokens'),
      cached_tokens: sum('cached_tokens'),
      reasoning_tokens: sum('reasoning_tokens'),
      cost: sum('cost'),
    }
    return [key, total] as const
  })
  return groups.toSorted(([a, one], [b, other]) => other.total_tokens - one.total_tokens || a.localeCompare(b))
}
