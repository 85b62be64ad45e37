import { type BudgetLimits, type BudgetRecord, budgetId, dayOf, unlimited } from '../../domain/records/budget.ts'
import type { Collections } from '../collections.ts'
import { assistantStore } from '../stores/assistants.ts'
import { budgetStore } from '../stores/budgets.ts'
import { projectStore } from '../stores/projects.ts'
import type { BudgetCounting } from './counting.ts'
import { type BudgetSubject, type Spent, type SpentTodayDeps, assistantsOf, createSpentToday } from './spent-today.ts'

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
  const store = budgetStore(deps.collections)
  const spentToday = createSpentToday(deps)

  async function read(subject: BudgetSubject): Promise<BudgetView> {
    const _id = budgetId(subject.scope, subject.id)
    const budget = await store.find(_id)
    if (budget === null) {
      const day = dayOf(new Date())
      return { limits: {}, used: usedOf(await spentToday(subject, day)), day }
    }
    const isChanged = await deps.budgetCounting.countLeftovers(budget)
    return show((isChanged && (await store.find(_id))) || budget)
  }

  /**
   * Counts what was spent today before the record was made. A request that dies before is completed by the next one
   * that sets limits on this day.
   */
  async function seed(subject: BudgetSubject, budget: BudgetRecord): Promise<void> {
    await store.seed(budget, await spentToday(subject, budget.day))
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
      const members = assistantsOf(subject)
      const maxima = {
        max_runs: limits.runs ?? unlimited,
        max_tokens: limits.tokens ?? unlimited,
        max_money: limits.money ?? unlimited,
      }
      const hasLimits = Object.keys(limits).length > 0
      const nothingSpent = { day: dayOf(new Date()), runs: 0, tokens: 0, money: 0, unseeded: true }
      const isKnown = await store.setMaxima(_id, maxima)
      if (!isKnown && !hasLimits) return read(subject)
      if (!isKnown) await store.add({ _id, user_id: userId, ...maxima, ...nothingSpent })
      // The creation or move of an assistant also writes to the project's record, so it either finds the budget or
      // is found here.
      const { project_id: projectId } = members
      if (projectId !== undefined) await projectStore(deps.collections).touch(projectId)
      await assistantStore(deps.collections).addBudget(members, _id)
      const budget = await store.find(_id)
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
