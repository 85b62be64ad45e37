import { firstIdAt } from '../../domain/ids.ts'
import type { ProjectRecord } from '../../domain/records/project.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type BudgetHold, type BudgetScope, budgetId } from '../../domain/records/budget.ts'
import { type ModelUsage, type RunRecord, openRunStatuses } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import type { ModelsNow } from '../models/live-models.ts'
import type { BudgetCounting } from './counting.ts'
import { costOfUsages, usedRuns } from './cost-of-run.ts'
import { sumWork } from './work.ts'

export interface SpentTodayDeps {
  collections: Pick<Collections, 'assistants' | 'projects' | 'runs'>
  budgetCounting: Pick<BudgetCounting, 'estimateOf'>
  models: ModelsNow
  /** Undefined if no embedding model is configured. */
  embeddingModel: string | undefined
}

export interface Spent {
  runs: number
  tokens: number
  money: number
  held: BudgetHold[]
}

export interface BudgetSubject {
  scope: BudgetScope
  /** Of the project or assistant. */
  id: string
  userId: string
}

const openRead = 1000

/**
 * What the runs of a day have cost that a budget has not counted, because it did not exist when they began. Open runs
 * are counted too, and become holds. Deleted runs are not known any more.
 */
export function createSpentToday({ collections, budgetCounting, models, embeddingModel }: SpentTodayDeps) {
  const { assistants, projects, runs } = collections
  return async ({ scope, id, userId }: BudgetSubject, day: string): Promise<Spent> => {
    const members = await assistants
      .find({ ...(scope === 'project' ? { project_id: id } : { _id: id }), user_id: userId })
      .lean<AssistantRecord[]>()
    const begin = new Date(`${day}T00:00:00Z`)
    const uncounted = {
      // Those of members count for the project, too.
      ...(scope === 'public' ? { user_id: userId } : {}),
      _id: { $gte: firstIdAt(begin) },
      // What an assistant costs when another one asks it is spent by the callers of that one.
      ...(scope === 'public'
        ? {
            public: true,
            $and: [{ $or: [{ assistant_id: id, asked_by: { $exists: false } }, { 'asked_by.assistant_ids.0': id }] }],
          }
        : { assistant_id: { $in: members.map((assistant) => assistant._id) } }),
      created_at: { $gte: begin },
      budgets: { $ne: budgetId(scope, id) },
      imported: { $ne: true },
    }
    const open = await runs
      .find({ ...uncounted, status: { $in: [...openRunStatuses] } }, { assistant_id: 1, overrides: 1 })
      .limit(openRead)
      .lean<Pick<RunRecord, '_id' | 'assistant_id' | 'overrides'>[]>()
    const used = { ...uncounted, $or: usedRuns }
    const count = await runs.countDocuments(used)
    const usages = await runs.aggregate<ModelUsage>([
      { $match: { ...used, usage: { $exists: true } } },
      { $set: { parts: { $ifNull: ['$usage_by_model', [{ $mergeObjects: ['$usage', { model: '$model' }] }]] } } },
      { $unwind: '$parts' },
      {
        $group: {
          _id: '$parts.model',
          prompt_tokens: { $sum: '$parts.prompt_tokens' },
          completion_tokens: { $sum: '$parts.completion_tokens' },
          total_tokens: { $sum: '$parts.total_tokens' },
          cached_tokens: { $sum: '$parts.cached_tokens' },
          cache_write_tokens: { $sum: '$parts.cache_write_tokens' },
        },
      },
      { $set: { model: { $ifNull: ['$_id', ''] } } },
    ])
    const byId = new Map(members.map((assistant) => [assistant._id, assistant]))
    const held = open.flatMap(({ _id, assistant_id, overrides }) => {
      const assistant = byId.get(assistant_id)
      if (assistant === undefined) return []
      return [{ run: _id, ...budgetCounting.estimateOf({ assistant, overrides }), at: new Date() }]
    })
    const { prices } = models.current()
    const { tokens, money } = costOfUsages(prices, usages)
    const project = scope === 'project' ? await projects.findById(id, { work: 1 }).lean<ProjectRecord>() : null
    const { [day]: today = {} } = project?.work ?? {}
    const embedded = sumWork([{ work: { [day]: today } }], { prices, embeddingModel })
    return {
      runs: count + open.length,
      tokens: tokens + embedded.embedding_tokens,
      money: money + embedded.cost,
      held,
    }
  }
}
