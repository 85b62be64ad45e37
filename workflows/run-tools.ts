import { ActivityCancellationType, condition, isCancellation, proxyActivities } from '@temporalio/workflow'
import type { createRunActivities } from '../activities/runs/index.ts'
import { backOffMs } from '../domain/back-off.ts'
import {
  type CarriedRun,
  type PlannedCall,
  type ToolInput,
  type ToolOutcome,
  toolActivityPrefix,
} from '../domain/contracts/thread.ts'
import { finalizePolicy, toolPolicy } from './thread-policies.ts'
import { isTimeOver, remainingMs, remainingTime } from './time-limit.ts'

/**
 * The calls of a step in order, a few at a time. When the run's time is over, no further call begins. When the run
 * is cancelled, all calls have stopped before it is settled.
 */
export async function runTools(run: CarriedRun, calls: PlannedCall[], parallelCalls: number): Promise<void> {
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
    await Promise.allSettled(workers)
    throw error
  }
}

/**
 * Each tool is an activity with its own name and limit. The model is told of a failed tool; only a cancellation
 * ends the run.
 */
async function runTool(run: CarriedRun, call: PlannedCall): Promise<void> {
  const activityType = `${toolActivityPrefix}${call.name}`
  const tools = proxyActivities<Record<string, (input: ToolInput) => Promise<ToolOutcome>>>({
    ...toolPolicy(call),
    ...remainingTime(run),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  })
  try {
    const outcome = await tools[activityType]?.({ runId: run.runId, step: run.step, index: call.index })
    // Activities that only store a result return nothing.
    if (outcome) await untilAnswered(run, call, outcome.askedRunId)
  } catch (error) {
    if (isCancellation(error)) throw error
    // The next step finds no result in the ledger and tells the model so.
  }
}

const { finishCall } = proxyActivities<Pick<ReturnType<typeof createRunActivities>, 'finishCall'>>(finalizePolicy)

/** The thread of the asked run tells of its end. Should that be lost, or should nobody be left to tell, it is looked up. */
const firstPollMs = 15_000
const longestPauseMs = 10 * 60_000

/** Waits until the run in which another assistant answers is over, and stores its answer. */
async function untilAnswered(run: CarriedRun, call: PlannedCall, askedRunId: string): Promise<void> {
  for (let looks = 1; ; looks++) {
    const pauseMs = backOffMs(looks, { firstMs: firstPollMs, longestMs: longestPauseMs })
    await condition(
      () => run.changedRuns?.includes(askedRunId) ?? false,
      Math.max(1, Math.min(pauseMs, remainingMs(run))),
    )
    if (isTimeOver(run)) return
    run.changedRuns = run.changedRuns?.filter((id) => id !== askedRunId) ?? []
    const { isOver } = await finishCall({ runId: run.runId, step: run.step, index: call.index })
    if (isOver) return
  }
}
