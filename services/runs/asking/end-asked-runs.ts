import { threadContract } from '../../../domain/contracts/thread.ts'
import { type RunKey, openRunStatuses } from '../../../domain/records/run.ts'
import { type EndRunDeps, cancelledError, endRun } from '../end-run.ts'
import type { WorkflowClient } from '../../workflow-client.ts'

export interface EndAskedRunsDeps extends EndRunDeps {
  workflows: Pick<WorkflowClient, 'signal'>
}

/** Cancels the runs that answer calls of a run. Each cancels those below it when it is settled. Safe to repeat. */
export async function endAskedRuns(deps: EndAskedRunsDeps, askingRunId: string): Promise<void> {
  const open = await deps.collections.runs
    .find({ 'asked_by.run_id': askingRunId, status: { $in: [...openRunStatuses] } }, { thread_id: 1 })
    .lean<RunKey[]>()
  for (const run of open) await endAskedRun(deps, run)
}

export async function endAskedRun(deps: EndAskedRunsDeps, key: RunKey): Promise<void> {
  const { _id: runId, thread_id: threadId } = key
  await endRun(deps, key, cancelledError)
  await deps.workflows.signal(threadContract, { threadId }, 'cancelRun', { runId })
}
