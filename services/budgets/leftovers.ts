import type { BudgetRecord } from '../../domain/records/budget.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'

interface LeftoversDeps {
  collections: Pick<Collections, 'budgets' | 'runs'>
  now(): Date
}

interface Count {
  giveBack(run: Pick<RunRecord, '_id' | 'budgets'>): Promise<void>
  settleStored(run: Pick<RunRecord, '_id' | 'thread_id' | 'budgets'>): Promise<void>
}

/** Time between two looks at the open runs of one budget, by any process. */
const pauseMs = 10_000
/** A run is stored within this time after it was admitted, and settled within this time after its end. */
const graceMs = 60_000

/**
 * Compares the open runs of a budget with their records. A process that dies between two statements leaves a run in the
 * list that has ended, or was never stored.
 */
export function createLeftovers({ collections: { budgets, runs }, now }: LeftoversDeps, count: Count) {
  return {
    /** Returns whether something was left over, and is counted now. Looks every ten seconds at most. */
    async countLeftovers({ _id, held = [] }: Pick<BudgetRecord, '_id' | 'held'>): Promise<boolean> {
      if (held.length === 0) return false
      const time = now().getTime()
      const { matchedCount } = await budgets.updateOne(
        { _id, looked_at: { $not: { $gt: new Date(time - pauseMs) } } },
        { $set: { looked_at: new Date(time) } },
      )
      if (matchedCount === 0) return false
      const ids = held.map(({ run }) => run)
      const known = await runs
        .find({ _id: { $in: ids } }, { thread_id: 1, status: 1, finished_at: 1 })
        .lean<Pick<RunRecord, '_id' | 'thread_id' | 'status' | 'finished_at'>[]>()
      const byId = new Map(known.map((run) => [run._id, run]))
      const isLate = (since: Date | undefined) => since !== undefined && since.getTime() < time - graceMs
      let found = 0
      for (const hold of held) {
        const run = byId.get(hold.run)
        if (run === undefined ? !isLate(hold.at) : !(run.status === 'success' || isLate(run.finished_at))) continue
        found += 1
        const counted = { _id: hold.run, budgets: [_id] }
        await (run === undefined
          ? count.giveBack(counted)
          : count.settleStored({ ...counted, thread_id: run.thread_id }))
      }
      return found > 0
    },
  }
}
