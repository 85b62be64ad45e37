import { AppError } from '../../domain/errors.ts'
import { costOf } from '../../domain/model-prices.ts'
import { dayOf } from '../../domain/records/budget.ts'
import type { Work } from '../../domain/records/project.ts'
import { storageMaxMbOf } from '../../domain/storage-max.ts'
import { sumWork } from '../budgets/work.ts'
import type { Collections } from '../collections.ts'
import { type StoredBytesCollections, createStoredBytes } from '../knowledge/stored-bytes.ts'
import type { ModelsNow } from '../models/live-models.ts'
import { assistantStore } from '../stores/assistants.ts'
import { userStore } from '../stores/users.ts'
import { type Row, type Shown, type ThreadUsage, type UsageCollections, usageStore } from './usage/store.ts'

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

const assistantsShown = 50
const modelsShown = 50
const daysShown = 30

export interface UsageSettings {
  storageMaxMb: number | undefined
}

interface UsedModels {
  models: ModelsNow
  /** Undefined if no embedding model is configured. */
  embeddingModel: string | undefined
}

/** What a user has now, and the tokens that models counted for runs that still exist. */
export function createUsage(
  collections: UsageCollections & Pick<Collections, 'assistants' | 'users'> & StoredBytesCollections,
  { storageMaxMb }: UsageSettings,
  { models, embeddingModel }: UsedModels,
) {
  const store = usageStore(collections)
  const storedBytes = createStoredBytes(collections)

  /** With `days`, only the runs of the last days count, today included. */
  return async function usageOf(userId: string, days?: number): Promise<UserUsage> {
    const { prices } = models.current()
    const since = days === undefined ? undefined : startOfDays(days)
    const sinceShown = since ?? startOfDays(daysShown)
    const [user, ownProjects, assistants, files, bytes, [totals], byThread, byDay, byOne, bySeveral, costs] =
      await Promise.all([
        userStore(collections).findQuota(userId),
        store.listWork(userId),
        assistantStore(collections).countOwned(userId),
        store.countFiles(userId),
        storedBytes.of(userId),
        store.sumAll(userId, since),
        store.sumByThread(userId, since),
        store.sumByDay(userId, sinceShown),
        store.sumByModel(userId, since),
        store.sumByModels(userId, since),
        store.sumCosts(userId, sinceShown),
      ])
    const costsByDay = new Map<string, number>()
    // Prices are by model, so a day's cost is made of one row for each model.
    for (const { _id, ...row } of costs)
      costsByDay.set(_id.day, (costsByDay.get(_id.day) ?? 0) + costOf(prices, _id.model, row))
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
    const firstDay = since === undefined ? {} : { since: dayOf(since) }
    const work = sumWork(ownProjects, { prices, embeddingModel, ...firstDay })
    if (user === null) throw new AppError('not_found', 'This account no longer exists.')
    return {
      thread_counter: user.thread_counter,
      thread_max: user.thread_max,
      projects: ownProjects.length,
      assistants,
      files,
      storage_bytes: bytes,
      storage_max_mb: storageMaxMbOf(user, storageMaxMb) ?? null,
      runs: totals?.runs ?? 0,
      prompt_tokens: totals?.prompt_tokens ?? 0,
      completion_tokens: totals?.completion_tokens ?? 0,
      total_tokens: totals?.total_tokens ?? 0,
      cached_tokens: totals?.cached_tokens ?? 0,
      reasoning_tokens: totals?.reasoning_tokens ?? 0,
      threads: byThread.map(({ _id, ...counts }) => ({ ...counts, thread_id: _id })),
      days: byDay.map(({ _id, ...counts }) => ({ ...counts, date: _id, cost: costsByDay.get(_id) ?? 0 })),
      assistants_used: byAssistant.slice(0, assistantsShown).map(([id, sum]) => ({ assistant_id: id, ...sum })),
      public_assistants_used: byPublic.slice(0, assistantsShown).map(([id, sum]) => ({ assistant_id: id, ...sum })),
      models_used: byModel.slice(0, modelsShown).map(([model, sum]) => ({ model, ...sum })),
      work,
      cost: byModel.reduce((total, [, { cost }]) => total + cost, work.cost),
      currency: prices.currency,
    }
  }
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
