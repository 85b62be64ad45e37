/**
 * What may be spent on one day (UTC). An absent member sets no limit. Money is in units of the currency of the
 * prices.
 */
export interface BudgetLimits {
  runs?: number
  tokens?: number
  money?: number
}

export type BudgetScope = 'project' | 'public' | 'member'

/**
 * A budget and what was spent on its day. A missing limit is stored as a very large number, so that one statement
 * can compare and count.
 */
export interface BudgetRecord {
  /**
   * `project/{project_id}`, `public/{assistant_id}` for the public callers of an assistant, or
   * `member/{project_id}/{user_id}` for one who uses a project.
   */
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
  held?: BudgetReservation[]
  /** When holds were last compared with their runs. */
  looked_at?: Date
  /** What was spent on this day before the record was made is not counted yet. */
  unseeded?: boolean
}

/** What a run that was admitted may cost. The hold goes when the run ends, and then its real cost is counted. */
export interface BudgetReservation {
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

/** The budget of one who uses a project. No id of a project has a slash. */
export function memberBudgetId(projectId: string, userId: string): string {
  return budgetId('member', `${projectId}/${userId}`)
}

/** Selects the budgets of all who use a project: what follows a slash comes before `0`. */
export const memberBudgetsOf = (projectId: string) => ({
  $gte: budgetId('member', `${projectId}/`),
  $lt: budgetId('member', `${projectId}0`),
})

export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}
