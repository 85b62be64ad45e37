import { type RunKey, openRunStatuses } from '../../../domain/records/run.ts'
import type { Collections } from '../../collections.ts'
import { type CancelRunDeps, cancelRun } from '../end-run.ts'

/**
 * Cancels the runs that answer calls of a run, which the calls name. Each cancels those below it when it is settled.
 * Safe to repeat.
 */
export async function endAskedRuns(
  deps: CancelRunDeps & { collections: Pick<Collections, 'toolCalls'> },
  askingRunId: string,
): Promise<void> {
  const { runs, toolCalls } = deps.collections
  const calls = await toolCalls.find({ run_id: askingRunId, asked: { $exists: true } }, { asked: 1 }).lean()
  const asked = calls.flatMap((call) => call.asked ?? [])
  if (asked.length === 0) return
  const _id = { $in: asked.map(({ run_id }) => run_id) }
  const thread_id = { $in: asked.map((run) => run.thread_id) }
  const open = await runs
    .find({ _id, thread_id, status: { $in: [...openRunStatuses] } }, { thread_id: 1 })
    .lean<RunKey[]>()
  for (const run of open) await cancelRun(deps, run)
}
