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
  /** Runs of this day that have not ended: what they are expected to cost counts until then. */
  held?: BudgetHold[]
  /** When holds were last compared with their runs. */
  looked_at?: Date
  /** What was spent on this day before the record was made is not counted yet. */
  unseeded?: boolean
}

/** What a run that was admitted may cost. The hold goes when the run ends, and then its real cost is counted. */
export interface BudgetHold {
  run: string
  tokens: number
  money: number
  at: Date
}

/** Stored in place of a missing limit. */
export const unlimited = 1e15

export function budgetId(scope: BudgetScope, id: string): string {
  return `${scope}/${id}`
}

export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}
