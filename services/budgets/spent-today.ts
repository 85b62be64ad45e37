import { firstIdAt } from '../../domain/ids.ts'
import { type BudgetReservation, type BudgetScope, budgetId } from '../../domain/records/budget.ts'
import type { Collections } from '../collections.ts'
import type { ModelsNow } from '../models/live-models.ts'
import { assistantStore } from '../stores/assistants.ts'
import { projectStore } from '../stores/projects.ts'
import { runStore } from '../stores/runs.ts'
import { costOfUsages } from './cost-of-run.ts'
import type { BudgetCounting } from './counting.ts'
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
  held: BudgetReservation[]
}

export interface BudgetSubject {
  scope: BudgetScope
  /** Of the project or assistant; of the project and of who uses it, with a slash between, for one who uses it. */
  id: string
  /** Whose account holds it. */
  userId: string
}

const openRead = 1000

/** Those whose runs a budget counts. */
export function assistantsOf({ scope, id, userId }: BudgetSubject): {
  user_id: string
  project_id?: string
  _id?: string
} {
  if (scope === 'public') return { _id: id, user_id: userId }
  return { project_id: scope === 'member' ? id.slice(0, id.indexOf('/')) : id, user_id: userId }
}

/**
 * What the runs of a day have cost that a budget has not counted, because it did not exist when they began. Open runs
 * are counted too, and become holds. Deleted runs are not known any more.
 */
export function createSpentToday({ collections, budgetCounting, models, embeddingModel }: SpentTodayDeps) {
  return async (subject: BudgetSubject, day: string): Promise<Spent> => {
    const { scope, id, userId } = subject
    const members = await assistantStore(collections).listCounted(assistantsOf(subject))
    const begin = new Date(`${day}T00:00:00Z`)
    const uncounted = {
      // Those of members count for the project, too.
      ...(scope === 'public' ? { user_id: userId } : {}),
      ...(scope === 'member' ? { user_id: id.slice(id.indexOf('/') + 1), public: false } : {}),
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
    const runs = runStore(collections)
    const open = await runs.listOpen(uncounted, openRead)
    const { count, usages } = await runs.sumUsed(uncounted)
    const byId = new Map(members.map((assistant) => [assistant._id, assistant]))
    const held = open.flatMap(({ _id, assistant_id, overrides }) => {
      const assistant = byId.get(assistant_id)
      if (assistant === undefined) return []
      return [{ run: _id, ...budgetCounting.estimateOf({ assistant, overrides }), at: new Date() }]
    })
    const { prices } = models.current()
    const { tokens, money } = costOfUsages(prices, usages)
    const project = scope === 'project' ? await projectStore(collections).workOfAny(id) : null
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
