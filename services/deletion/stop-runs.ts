import { threadWorkflowId } from '../../domain/contracts/thread.ts'
import { openRunStatuses } from '../../domain/records/run.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { type EndRunDeps, cancelledError, endRun } from '../runs/end-run.ts'
import type { WorkflowControl } from '../runs/sweep.ts'
import type { ThreadActor } from '../runs/thread-actor.ts'
import { type Members, inBatches } from './store.ts'

export interface StopRunsDeps extends EndRunDeps {
  actor: Pick<ThreadActor, 'cancel'>
  control: WorkflowControl
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
      await deps.actor.cancel(run.thread_id, run._id)
    }
  })
  await Promise.all(Array.from(busy, (threadId) => waitForEnd(deps.control, threadId)))
}

async function waitForEnd(control: WorkflowControl, threadId: string): Promise<void> {
  const workflowId = threadWorkflowId(threadId)
  const end = Date.now() + graceMs
  while ((await control.stateOf(workflowId)).status === 'running') {
    if (Date.now() >= end) return control.terminate(workflowId, 'its thread is being deleted')
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
