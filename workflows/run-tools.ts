import { ActivityCancellationType, isCancellation, patched, proxyActivities } from '@temporalio/workflow'
import { type CarriedRun, type PlannedCall, type ToolInput, toolActivityPrefix } from '../domain/contracts/thread.ts'
import { toolPolicy } from './thread-policies.ts'
import { isTimeOver, remainingTime } from './time-limit.ts'

/**
 * The calls of a step in order, a few at a time. When the run's time is over, no further call begins. When the run
 * is cancelled, all calls have stopped before it is settled.
 */
export async function runTools(run: CarriedRun, calls: PlannedCall[], parallelCalls = calls.length): Promise<void> {
  const queue = calls.values()
  const work = async () => {
    for (const call of queue) {
      if (isTimeOver(run)) return
      await runTool(run, call)
    }
  }
  const workers = Array.from({ length: Math.min(parallelCalls, calls.length) }, work)
  try {
    await Promise.all(workers)
  } catch (error) {
    if (patched('thread-await-all-tools')) await Promise.allSettled(workers)
    throw error
  }
}

/**
 * Each tool is an activity with its own name and limit. The model is told of a failed tool; only a cancellation
 * ends the run.
 */
async function runTool(run: CarriedRun, call: PlannedCall): Promise<void> {
  const activityType = `${toolActivityPrefix}${call.name}`
  const tools = proxyActivities<Record<string, (input: ToolInput) => Promise<void>>>({
    ...toolPolicy(call),
    ...remainingTime(run),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  })
  try {
    await tools[activityType]?.({ runId: run.runId, step: run.step, index: call.index })
  } catch (error) {
    if (isCancellation(error)) throw error
    // The next step finds no result in the ledger and tells the model so.
  }
}
