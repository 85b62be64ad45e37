import Type, { type Static } from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

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

/** What a run that was admitted may cost. The hold goes when the run ends, and then its real cost is counted. */
const BudgetReservation = Type.Object({
  run: StoredId,
  tokens: Type.Number(),
  money: Type.Number(),
  at: StoredTime,
})
export type BudgetReservation = Static<typeof BudgetReservation>

/**
 * A budget and what was spent on its day. A missing limit is stored as a very large number, so that one statement
 * can compare and count.
 */
const Budget = Type.Object({
  /**
   * `project/{project_id}`, `public/{assistant_id}` for the public callers of an assistant, or
   * `member/{project_id}/{user_id}` for one who uses a project.
   */
  _id: Type.String({ minLength: 1 }),
  user_id: StoredId,
  max_runs: Type.Number(),
  max_tokens: Type.Number(),
  max_money: Type.Number(),
  /** The day of the counts, such as 2026-11-22. */
  day: Type.String({ minLength: 1 }),
  runs: Type.Number(),
  tokens: Type.Number(),
  money: Type.Number(),
  /** Runs of this day that have not ended: what they are expected to cost counts until then. */
  held: Type.Optional(Type.Array(BudgetReservation)),
  /** When holds were last compared with their runs. */
  looked_at: Type.Optional(StoredTime),
  /** What was spent on this day before the record was made is not counted yet. */
  unseeded: Type.Optional(Type.Boolean()),
})

export const budgetRecord = declareRecord({
  model: 'Budget',
  collection: 'budgets',
  schema: Budget,
  owners: [],
  indexes: [],
  archive: undefined,
})
export type BudgetRecord = RecordOf<typeof budgetRecord>

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
