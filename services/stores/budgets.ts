import type { ClientSession } from 'mongoose'
import { type BudgetReservation, type BudgetRecord, budgetId, memberBudgetsOf } from '../../domain/records/budget.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import { isMatched } from './results.ts'

/** Open runs that one budget counts at once, so that its record stays small. */
export const reservationsMax = 10_000

type Maxima = Pick<BudgetRecord, 'max_runs' | 'max_tokens' | 'max_money'>
type Cost = Pick<BudgetRecord, 'tokens' | 'money'>

/** What was spent, and what open runs may cost. (The local stand-in for MongoDB has no `$sum` over a path.) */
const withHeld = (what: 'tokens' | 'money') => ({
  $reduce: {
    input: { $ifNull: ['$held', []] },
    initialValue: `$${what}`,
    in: { $add: ['$$value', `$$this.${what}`] },
  },
})

const hasRoom = {
  $and: [
    { $lt: ['$runs', '$max_runs'] },
    { $lt: [withHeld('tokens'), '$max_tokens'] },
    { $lt: [withHeld('money'), '$max_money'] },
  ],
}

/** All statements on `budgets`. The id names the project or the assistant whose it is, which was found as its owner's. */
export const budgetStore = ({ budgets }: Pick<Collections, 'budgets'>) => ({
  find: async (id: string) => budgets.findById(id).lean<BudgetRecord>(),

  findAll: async (ids: string[]) => budgets.find({ _id: { $in: ids } }).lean<BudgetRecord[]>(),

  /**
   * The budgets for which runs of a project's assistants count. The project must be held, so that a budget that is being
   * set is seen here, or sees the assistant.
   */
  async idsOfProject(projectId: string, session: ClientSession): Promise<string[]> {
    const found = await budgets
      .find(
        { $or: [{ _id: budgetId('project', projectId) }, { _id: memberBudgetsOf(projectId) }] },
        { _id: 1 },
        { session },
      )
      .lean<{ _id: string }[]>()
    return found.map(({ _id }) => _id)
  },

  /** False if there is none. */
  setMaxima: async (id: string, maxima: Maxima) => isMatched(await budgets.updateOne({ _id: id }, { $set: maxima })),

  /** Or sets the limits of one that was made meanwhile. */
  async add(budget: BudgetRecord): Promise<void> {
    const { _id, max_runs, max_tokens, max_money } = budget
    if (!(await isNew(budgets.create(budget))))
      await budgets.updateOne({ _id }, { $set: { max_runs, max_tokens, max_money } })
  },

  /** Counts what was spent on its day before it was made, once. */
  seed: async ({ _id, day }: BudgetRecord, { held, ...spent }: Cost & { runs: number; held: BudgetReservation[] }) =>
    budgets.updateOne(
      { _id, day, unseeded: true },
      { $inc: spent, $push: { held: { $each: held } }, $unset: { unseeded: 1 } },
    ),

  /** Counts one run in one statement, if its limits leave room and it is not counted yet. */
  async take(id: string, days: string[], reservation: BudgetReservation): Promise<boolean> {
    const isAnother = { 'held.run': { $ne: reservation.run } }
    const isFree = { [`held.${reservationsMax - 1}`]: { $exists: false }, $expr: hasRoom }
    const { matchedCount } = await budgets.updateOne(
      { _id: id, day: { $in: days }, ...isAnother, ...isFree },
      { $inc: { runs: 1 }, $push: { held: reservation } },
    )
    return matchedCount > 0
  },

  remove: async (id: string) => budgets.deleteOne({ _id: id }),

  /** Takes an open run out of the budgets. */
  giveBack: async (ids: string[], run: string) =>
    budgets.updateMany({ _id: { $in: ids }, 'held.run': run }, { $pull: { held: { run } }, $inc: { runs: -1 } }),

  /** Replaces the estimate of an open run by its cost. */
  recordCost: async (ids: string[], run: string, cost: Cost) =>
    budgets.updateMany({ _id: { $in: ids }, 'held.run': run }, { $pull: { held: { run } }, $inc: cost }),

  /** Adds to what a run has cost that was settled on the day. */
  addLate: async (ids: string[], run: string, day: string, cost: Cost) =>
    budgets.updateMany({ _id: { $in: ids }, day, 'held.run': { $ne: run } }, { $inc: cost }),

  /** False if there is none on these days. */
  addWork: async (id: string, days: string[], cost: Cost) =>
    isMatched(await budgets.updateOne({ _id: id, day: { $in: days } }, { $inc: cost })),

  /** Resets the counts, unless another process has just done so. */
  beginDay: async ({ _id, day }: BudgetRecord, today: string) =>
    budgets.updateOne(
      { _id, day },
      { $set: { day: today, runs: 0, tokens: 0, money: 0, held: [] }, $unset: { unseeded: 1 } },
    ),

  /** Takes the turn to compare its open runs with their records, if nobody has since then. */
  takeTurn: async (id: string, now: Date, pauseMs: number) =>
    isMatched(
      await budgets.updateOne(
        { _id: id, looked_at: { $not: { $gt: new Date(now.getTime() - pauseMs) } } },
        { $set: { looked_at: now } },
      ),
    ),
})
