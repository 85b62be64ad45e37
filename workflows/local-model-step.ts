// Before a change: docs/traps.md, Temporal.
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  TimeoutFailure,
  condition,
  isCancellation,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow'
import type { createRunActivities } from '../activities/runs/index.ts'
import { backOffMs } from '../domain/back-off.ts'
import { type CarriedRun, type StepResult, supersededType } from '../domain/contracts/thread.ts'
import { modelStepRetries, modelStepTimeout } from './thread-policies.ts'
import { extendTimeLimit, isTimeOver, remainingMs, remainingTime, timeLimitReached } from './time-limit.ts'

type RunActivities = ReturnType<typeof createRunActivities>

/**
 * One model step, executed by the worker that has the workflow task: it needs no other call to the server, and its
 * result is in the history with that task. The workflow makes the retries, so that an operator sees which attempt
 * is under way, since when, and why the last one failed. If its worker dies, the step is executed again with the
 * workflow task; the fence counts that.
 *
 * A step that was taken over is repeated as well: a busy machine lets a workflow task time out, and the
 * worker that receives it again can be handed the failure of the first execution as that of the second.
 * A run that has really ended answers the repetition with its end. The timer in between needs the
 * workflow task: a worker that has lost it does not get that far.
 */
export async function localModelStep(run: CarriedRun): Promise<StepResult> {
  const { runId, step } = run
  let failed = ''
  for (let attempt = 1; ; attempt++) {
    const show = (what: string) => {
      const since = new Date(Date.now()).toISOString()
      setCurrentDetails(`Run ${runId}: model step ${step + 1}, ${what} since ${since}${failed}`)
    }
    try {
      for (;;) {
        if (isTimeOver(run)) throw timeLimitReached(run)
        show(`attempt ${attempt}`)
        run.isSlotFree = false
        const result = await modelStepOf(run)({ runId, step })
        if (result.next !== 'queued') return result
        show('waiting for other runs')
        const waitsSince = Date.now()
        await condition(() => run.isSlotFree === true, result.checkAfterMs)
        extendTimeLimit(run, Date.now() - waitsSince)
      }
    } catch (error) {
      // Local activities fail with the failure itself.
      const cause = error instanceof ActivityFailure ? error.cause : error
      if (isCancellation(error) || !isRetryable(cause)) throw error
      const pauseMs = pauseAfter(attempt, cause)
      if (isTimeOver(run) || pauseMs >= remainingMs(run)) throw timeLimitReached(run, cause)
      if (attempt === modelStepRetries.maximumAttempts) throw error
      failed = `; attempt ${attempt} failed: ${cause.message}`
      setCurrentDetails(`Run ${runId}: model step ${step + 1}, next attempt in ${pauseMs} ms${failed}`)
      await sleep(pauseMs)
    }
  }
}

function modelStepOf(run: CarriedRun) {
  return proxyLocalActivities<Pick<RunActivities, 'modelStep'>>({
    startToCloseTimeout: modelStepTimeout,
    ...remainingTime(run),
    retry: { maximumAttempts: 1 },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  }).modelStep
}

function isRetryable(cause: unknown): cause is TimeoutFailure | ApplicationFailure {
  if (cause instanceof TimeoutFailure) return true
  if (!(cause instanceof ApplicationFailure)) return false
  return cause.type === supersededType || cause.nonRetryable !== true
}

/** The third detail of a model failure is the time that the server asks to wait. */
function pauseAfter(attempt: number, cause: Error): number {
  const asked: unknown = cause instanceof ApplicationFailure ? cause.details?.[2] : undefined
  return typeof asked === 'number' ? asked : backOffMs(attempt, modelStepRetries)
}
