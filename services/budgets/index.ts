import {
  type BudgetLimits,
  type BudgetRecord,
  type BudgetScope,
  budgetId,
  dayOf,
  unlimited,
} from '../../domain/records/budget.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'

export interface BudgetView {
  limits: BudgetLimits
  used: Required<BudgetLimits>
  day: string
}

/** Reads and sets budgets. The caller has checked who owns the project or assistant. */
export function createBudgets({
  budgets,
  assistants,
  projects,
}: Pick<Collections, 'budgets' | 'assistants' | 'projects'>) {
  return {
    async read(scope: BudgetScope, id: string): Promise<BudgetView> {
      return show(await budgets.findById(budgetId(scope, id)).lean<BudgetRecord>())
    },

    /** Replaces the limits; without any, the budget is removed. What was spent today is kept. */
    async set(scope: BudgetScope, { id, userId }: { id: string; userId: string }, limits: BudgetLimits) {
      const _id = budgetId(scope, id)
      const members = scope === 'project' ? { project_id: id, user_id: userId } : { _id: id, user_id: userId }
      if (Object.keys(limits).length === 0) {
        await assistants.updateMany(members, { $pull: { budgets: _id } })
        await budgets.deleteOne({ _id })
        return show(null)
      }
      const maxima = {
        max_runs: limits.runs ?? unlimited,
        max_tokens: limits.tokens ?? unlimited,
        max_money: limits.money ?? unlimited,
      }
      const nothingSpent = { day: dayOf(new Date()), runs: 0, tokens: 0, money: 0 }
      try {
        await budgets.create({ _id, user_id: userId, ...maxima, ...nothingSpent })
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        await budgets.updateOne({ _id }, { $set: maxima })
      }
      // The creation or move of an assistant also writes to the project's record, so it either finds the budget or
      // is found here.
      if (scope === 'project') await projects.updateOne({ _id: id }, { $inc: { holds: 1 } })
      await assistants.updateMany(members, { $addToSet: { budgets: _id } })
      return show(await budgets.findById(_id).lean<BudgetRecord>())
    },
  }
}

function show(budget: BudgetRecord | null): BudgetView {
  const day = dayOf(new Date())
  const isToday = budget?.day === day
  const limitOf = (maximum: number | undefined) => (maximum === undefined || maximum >= unlimited ? undefined : maximum)
  const [runs, tokens, money] = [budget?.max_runs, budget?.max_tokens, budget?.max_money].map(limitOf)
  return {
    limits: {
      ...(runs === undefined ? {} : { runs }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(money === undefined ? {} : { money }),
    },
    used: {
      runs: isToday ? budget.runs : 0,
      tokens: isToday ? budget.tokens : 0,
      money: isToday ? budget.money : 0,
    },
    day,
  }
}
