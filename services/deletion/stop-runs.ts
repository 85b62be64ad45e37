import { threadContract } from '../../domain/contracts/thread.ts'
import { openRunStatuses } from '../../domain/records/run.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { WorkflowClient } from '../../infra/temporal/workflow-client.ts'
import { type EndRunDeps, cancelledError, endRun } from '../runs/end-run.ts'
import { type Members, inBatches } from './store.ts'

export interface StopRunsDeps extends EndRunDeps {
  workflows: Pick<WorkflowClient, 'signal' | 'state' | 'terminate'>
}

const graceMs = 15_000
const pollMs = 100

/**
 * Ends what runs on the members' threads and waits until their workflows are over, so that nothing
 * writes any more. One that does not end in time is terminated. `since`: threads whose runs ended
 * after this are waited for too, for an earlier attempt may have ended them.
 */
export async function stopRuns(deps: StopRunsDeps, members: Members, since: Date): Promise<void> {
  const { runs } = deps.collections
  const busy = new Set<string>()
  await inBatches(members.threadIds, async (ids) => {
    const recent = await runs
      .find({
        thread_id: { $in: ids },
        $or: [{ status: { $in: [...openRunStatuses] } }, { finished_at: { $gte: since } }],
      })
      .lean<RunRecord[]>()
    for (const run of recent) {
      busy.add(run.thread_id)
      if (run.finished_at !== undefined) continue
      await endRun(deps, run._id, cancelledError)
      await deps.workflows.signal(threadContract, { threadId: run.thread_id }, 'cancelRun', { runId: run._id })
    }
  })
  await Promise.all(Array.from(busy, (threadId) => waitForEnd(deps.workflows, threadId)))
}

async function waitForEnd(workflows: StopRunsDeps['workflows'], threadId: string): Promise<void> {
  const end = Date.now() + graceMs
  while ((await workflows.state(threadContract, { threadId })).status === 'running') {
    if (Date.now() >= end) {
      await workflows.terminate(threadContract, { threadId }, 'its thread is being deleted')
      return
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
