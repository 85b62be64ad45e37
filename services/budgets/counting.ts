import { AppError } from '../../domain/errors.ts'
import { type ModelPrices, costOf } from '../../domain/model-prices.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type BudgetRecord, dayOf } from '../../domain/records/budget.ts'
import type { ModelUsage, RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'

export type BudgetCounting = ReturnType<typeof createBudgetCounting>

/**
 * Counts runs against the budgets of their project and of their assistant's public callers. The record of an
 * assistant names its budgets, so that a run without budgets needs no statement.
 */
export function createBudgetCounting({ budgets }: Pick<Collections, 'budgets'>, prices: ModelPrices) {
  return {
    /**
     * Counts the run in each budget. Throws `too_many_requests` if today's runs or tokens are used up,
     * `payment_required` if the money is. Returns the ids of the budgets, for `spend`.
     */
    async admit({ budgets: ids = [] }: AssistantRecord, isPublic: boolean): Promise<string[]> {
      const concerned = ids.filter((id) => isPublic || id.startsWith('project/'))
      const taken: string[] = []
      for (const id of concerned) {
        const exceeded = await take(id)
        if (exceeded === undefined) {
          taken.push(id)
          continue
        }
        await giveBack(taken)
        throw refusal(exceeded, isPublic)
      }
      return taken
    },

    giveBack,

    /**
     * Counts what a run has cost on the day on which it began. A budget may exceed its limit by this; then the next
     * run is refused.
     */
    async spend(run: RunRecord, usages: ModelUsage[]): Promise<void> {
      if (run.budgets === undefined || usages.length === 0) return
      const tokens = usages.reduce((total, usage) => total + usage.total_tokens, 0)
      const money = usages.reduce((total, usage) => total + costOf(prices, usage.model, usage), 0)
      await budgets.updateMany({ _id: { $in: run.budgets }, day: dayOf(run.created_at) }, { $inc: { tokens, money } })
    },
  }

  /** Undoes `admit` for a run that was not started. */
  async function giveBack(ids: string[]): Promise<void> {
    if (ids.length > 0) await budgets.updateMany({ _id: { $in: ids } }, { $inc: { runs: -1 } })
  }

  /**
   * Counts one run in one statement, unless a limit is reached: then returns the budget. The first run of a day
   * resets the counts.
   */
  async function take(id: string): Promise<BudgetRecord | undefined> {
    for (;;) {
      const day = dayOf(new Date())
      const room = {
        $and: [{ $lt: ['$runs', '$max_runs'] }, { $lt: ['$tokens', '$max_tokens'] }, { $lt: ['$money', '$max_money'] }],
      }
      const { matchedCount } = await budgets.updateOne({ _id: id, day, $expr: room }, { $inc: { runs: 1 } })
      if (matchedCount > 0) return undefined
      const budget = await budgets.findById(id).lean<BudgetRecord>()
      // It was removed a moment ago.
      if (budget === null) return undefined
      if (budget.day >= day) return budget
      await budgets.updateOne({ _id: id, day: budget.day }, { $set: { day, runs: 0, tokens: 0, money: 0 } })
    }
  }
}

/** Public callers are not told what the owner has and spends. */
function refusal(budget: BudgetRecord, isPublic: boolean): AppError {
  const now = new Date()
  const tomorrow = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  const retryAfterSeconds = Math.max(1, Math.ceil((tomorrow - now.getTime()) / 1000))
  const isMoney = budget.money >= budget.max_money
  const what = isMoney
    ? `${budget.max_money} of money`
    : budget.runs >= budget.max_runs
      ? `${budget.max_runs} runs`
      : `${budget.max_tokens} tokens`
  const whose = budget._id.startsWith('project/') ? 'of this project' : 'of public callers of this assistant'
  const message = isPublic
    ? 'This assistant has reached its limit for today. Try again tomorrow (UTC).'
    : `The budget ${whose} for today is used up: ${what}. It begins anew at 00:00 UTC; its owner can raise it.`
  return new AppError(isMoney ? 'payment_required' : 'too_many_requests', message, { retryAfterSeconds })
}
