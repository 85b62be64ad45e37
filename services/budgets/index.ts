import { type BudgetLimits, type BudgetRecord, budgetId, dayOf, unlimited } from '../../domain/records/budget.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { BudgetCounting } from './counting.ts'
import { type BudgetSubject, type Spent, type SpentTodayDeps, createSpentToday } from './spent-today.ts'

export interface BudgetView {
  limits: BudgetLimits
  used: Required<BudgetLimits>
  day: string
}

interface BudgetsDeps extends SpentTodayDeps {
  collections: Pick<Collections, 'budgets' | 'assistants' | 'projects' | 'runs'>
  budgetCounting: Pick<BudgetCounting, 'estimateOf' | 'countLeftovers'>
}

/** Reads and sets budgets. The caller has checked who owns the project or assistant. */
export function createBudgets(deps: BudgetsDeps) {
  const { budgets, assistants, projects } = deps.collections
  const spentToday = createSpentToday(deps)

  async function read(subject: BudgetSubject): Promise<BudgetView> {
    const _id = budgetId(subject.scope, subject.id)
    const budget = await budgets.findById(_id).lean<BudgetRecord>()
    if (budget === null) {
      const day = dayOf(new Date())
      return { limits: {}, used: usedOf(await spentToday(subject, day)), day }
    }
    const isChanged = await deps.budgetCounting.countLeftovers(budget)
    return show((isChanged && (await budgets.findById(_id).lean<BudgetRecord>())) || budget)
  }

  /**
   * Counts what was spent today before the record was made. A request that dies before is completed by the next one
   * that sets limits on this day.
   */
  async function seed(subject: BudgetSubject, { _id, day }: BudgetRecord): Promise<void> {
    const { held, ...spent } = await spentToday(subject, day)
    await budgets.updateOne(
      { _id, day, unseeded: true },
      { $inc: spent, $push: { held: { $each: held } }, $unset: { unseeded: 1 } },
    )
  }

  return {
    read,

    /**
     * Replaces the limits. A budget without limits is kept and counts, so that a limit that is set again finds what was
     * spent meanwhile.
     */
    async set(subject: BudgetSubject, limits: BudgetLimits): Promise<BudgetView> {
      const { scope, id, userId } = subject
      const _id = budgetId(scope, id)
      const members = scope === 'project' ? { project_id: id, user_id: userId } : { _id: id, user_id: userId }
      const maxima = {
        max_runs: limits.runs ?? unlimited,
        max_tokens: limits.tokens ?? unlimited,
        max_money: limits.money ?? unlimited,
      }
      const hasLimits = Object.keys(limits).length > 0
      const nothingSpent = { day: dayOf(new Date()), runs: 0, tokens: 0, money: 0, unseeded: true }
      const { matchedCount } = await budgets.updateOne({ _id }, { $set: maxima })
      if (matchedCount === 0 && !hasLimits) return read(subject)
      if (matchedCount === 0) {
        try {
          await budgets.create({ _id, user_id: userId, ...maxima, ...nothingSpent })
        } catch (error) {
          if (!isDuplicateKey(error)) throw error
          await budgets.updateOne({ _id }, { $set: maxima })
        }
      }
      // The creation or move of an assistant also writes to the project's record, so it either finds the budget or
      // is found here.
      if (scope === 'project') await projects.updateOne({ _id: id }, { $inc: { holds: 1 } })
      await assistants.updateMany(members, { $addToSet: { budgets: _id } })
      const budget = await budgets.findById(_id).lean<BudgetRecord>()
      if (budget?.unseeded) await seed(subject, budget)
      return read(subject)
    },
  }
}

const usedOf = ({ runs, tokens, money }: Omit<Spent, 'held'>) => ({ runs, tokens, money })

function show(budget: BudgetRecord): BudgetView {
  const day = dayOf(new Date())
  const isToday = budget.day >= day
  const limitOf = (maximum: number) => (maximum >= unlimited ? undefined : maximum)
  const [runs, tokens, money] = [budget.max_runs, budget.max_tokens, budget.max_money].map(limitOf)
  return {
    limits: {
      ...(runs === undefined ? {} : { runs }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(money === undefined ? {} : { money }),
    },
    used: isToday ? usedOf(budget) : { runs: 0, tokens: 0, money: 0 },
    day: isToday ? budget.day : day,
  }
}
