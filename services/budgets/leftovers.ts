import type { BudgetRecord } from '../../domain/records/budget.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { budgetStore } from '../stores/budgets.ts'
import { runStore } from '../stores/runs.ts'

interface LeftoversDeps {
  collections: Pick<Collections, 'budgets' | 'runs'>
  now(): Date
}

interface Count {
  giveBack(run: Pick<RunRecord, '_id' | 'budgets'>): Promise<void>
  finalizeStored(run: Pick<RunRecord, '_id' | 'thread_id' | 'budgets'>): Promise<void>
}

/** Time between two looks at the open runs of one budget, by any process. */
const pauseMs = 10_000
/** A run is stored within this time after it was admitted, and settled within this time after its end. */
const graceMs = 60_000

/**
 * Compares the open runs of a budget with their records. A process that dies between two statements leaves a run in the
 * list that has ended, or was never stored.
 */
export function createLeftovers({ collections, now }: LeftoversDeps, count: Count) {
  return {
    /** Returns whether something was left over, and is counted now. Looks every ten seconds at most. */
    async countLeftovers({ _id, held = [] }: Pick<BudgetRecord, '_id' | 'held'>): Promise<boolean> {
      if (held.length === 0) return false
      const time = now().getTime()
      if (!(await budgetStore(collections).takeTurn(_id, new Date(time), pauseMs))) return false
      const known = await runStore(collections).statesOfAny(held.map(({ run }) => run))
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
          : count.finalizeStored({ ...counted, thread_id: run.thread_id }))
      }
      return found > 0
    },
  }
}
