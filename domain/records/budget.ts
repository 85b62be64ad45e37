/**
 * What may be spent on one day (UTC). An absent member sets no limit. Money is in units of the currency of the
 * prices.
 */
export interface BudgetLimits {
  runs?: number
  tokens?: number
  money?: number
}

export type BudgetScope = 'project' | 'public'

/**
 * A budget and what was spent on its day. A missing limit is stored as a very large number, so that one statement
 * can compare and count.
 */
export interface BudgetRecord {
  /** `project/{project_id}`, or `public/{assistant_id}` for the public callers of an assistant. */
  _id: string
  user_id: string
  max_runs: number
  max_tokens: number
  max_money: number
  /** The day of the counts, such as 2026-11-22. */
  day: string
  runs: number
  tokens: number
  money: number
}

/** Stored in place of a missing limit. */
export const unlimited = 1e15

export function budgetId(scope: BudgetScope, id: string): string {
  return `${scope}/${id}`
}

export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}
