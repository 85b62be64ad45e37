import type { Collections } from '../../collections.ts'
import { type CancelRunDeps, cancelRun } from '../end-run.ts'
import { delegatedRunStore, ledgerStore } from '../store.ts'

/**
 * Cancels the runs that answer calls of a run, which the calls name. Each cancels those below it when it is settled.
 * Safe to repeat.
 */
export async function endChildRuns(
  deps: CancelRunDeps & { collections: Pick<Collections, 'toolCalls'> },
  askingRunId: string,
): Promise<void> {
  const asked = await ledgerStore(deps.collections).listChildRuns(askingRunId)
  if (asked.length === 0) return
  for (const run of await delegatedRunStore(deps.collections).listOpen(asked)) await cancelRun(deps, run)
}
