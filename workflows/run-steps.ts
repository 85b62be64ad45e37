import {
  type ActivityOptions,
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  TimeoutFailure,
  condition,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow'
import type { createRunActivities } from '../activities/runs/index.ts'
import { backOffMs } from '../domain/back-off.ts'
import {
  type CarriedRun,
  type FinalizeInput,
  type PlannedCall,
  type RunTimeLimit,
  type StepResult,
  type ToolInput,
  type ToolOutcome,
  supersededType,
  toolActivityPrefix,
} from '../domain/contracts/thread.ts'
import { errorCodes, httpStatusOf } from '../domain/errors.ts'
import type { RunError } from '../domain/records/run.ts'
import { runErrorTypeOf } from '../domain/run-errors.ts'

/** Time limits and retries by kind of work, each with its reason. */

/**
 * A model's answer may take minutes. Retries are for models that fail (which say how long to wait) and for dead
 * workers.
 */
const modelStepTimeout = '15m'
const modelStepRetries = { firstMs: 200, longestMs: 20_000, maximumAttempts: 8 }

/**
 * The end of a run, or its wait for the client, is retried for about three minutes. A run that could not be ended by
 * then must not block its thread: the sweep of open runs ends it later.
 */
export const finalizePolicy: ActivityOptions = {
  startToCloseTimeout: '30s',
  heartbeatTimeout: '3s',
  retry: { initialInterval: '200ms', maximumInterval: '30s', maximumAttempts: 12 },
}

/**
 * A tool has its own time limit, and a little more to store its result. Retries only follow a dead worker: the
 * ledger decides whether the call is repeated.
 */
function toolPolicy(call: PlannedCall): ActivityOptions {
  return {
    startToCloseTimeout: call.timeoutMs + 10_000,
    heartbeatTimeout: '3s',
    retry: { initialInterval: '200ms', maximumInterval: '5s', maximumAttempts: 5 },
    summary: call.name,
  }
}

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
  for (let polls = 1; ; polls++) {
    const pauseMs = backOffMs(polls, { firstMs: firstPollMs, longestMs: longestPauseMs })
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

/** The time that a run has for its steps, retries and tools. Older histories have no limit. */

type Limited = Pick<CarriedRun, 'timeLimit'>

export function newTimeLimit(maxDurationMs: number | undefined): Limited {
  return maxDurationMs === undefined ? {} : { timeLimit: { maxDurationMs, deadlineMs: Date.now() + maxDurationMs } }
}

export function isTimeOver({ timeLimit }: Limited): boolean {
  return timeLimit !== undefined && timeLimit.deadlineMs <= Date.now()
}

/** Adds the time during which a run waited for a person. */
export function extendTimeLimit({ timeLimit }: Limited, ms: number): void {
  if (timeLimit !== undefined) timeLimit.deadlineMs += ms
}

function remainingMs({ timeLimit }: Limited): number {
  return timeLimit === undefined ? Number.POSITIVE_INFINITY : timeLimit.deadlineMs - Date.now()
}

/** Options that end an activity with all its retries when the run's time is over. */
function remainingTime({ timeLimit }: Limited): Pick<ActivityOptions, 'scheduleToCloseTimeout'> {
  return timeLimit === undefined ? {} : { scheduleToCloseTimeout: Math.max(1, remainingMs({ timeLimit })) }
}

/** `cause` is the failure of the last attempt. */
export function timeLimitReached({ timeLimit }: Limited, cause?: Error): ApplicationFailure {
  const limit = timeLimit === undefined ? 'time limit' : `limit of ${inMinutes(timeLimit)}`
  return ApplicationFailure.create({
    message: `The run did not end within its ${limit}.`,
    type: 'timed_out',
    nonRetryable: true,
    details: [httpStatusOf.timed_out, cause instanceof ApplicationFailure ? cause.message : ''],
  })
}

function inMinutes({ maxDurationMs }: RunTimeLimit): string {
  const minutes = maxDurationMs / 60_000
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}

// Before a change: docs/traps.md, Temporal.

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
  const requested: unknown = cause instanceof ApplicationFailure ? cause.details?.[2] : undefined
  return typeof requested === 'number' ? requested : backOffMs(attempt, modelStepRetries)
}

/** How a run ends whose step or tool threw `error`. */
export function outcomeOf(error: unknown, run: CarriedRun): Pick<FinalizeInput, 'outcome' | 'error'> {
  if (isCancellation(error)) return { outcome: 'cancelled' }
  // The server starts no retry for which no time is left: the activity then fails with its last failure.
  if (error instanceof ActivityFailure && error.retryState === 'TIMEOUT')
    return outcomeOf(timeLimitReached(run, error.cause), run)
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof TimeoutFailure) {
    return {
      outcome: 'error',
      error: { status_code: 504, message: 'The run took too long.', type: 'timed_out', details: '' },
    }
  }
  if (cause instanceof ApplicationFailure && cause.type === supersededType) return { outcome: 'cancelled' }
  if (cause instanceof ApplicationFailure) {
    const [status, details] = cause.details ?? []
    const known = errorCodes.find((code) => code === cause.type)
    return {
      outcome: 'error',
      error: {
        status_code: typeof status === 'number' ? status : httpStatusOf[known ?? 'internal'],
        message: cause.message,
        type: runErrorTypeOf(cause.type),
        details: typeof details === 'string' ? details : '',
      },
    }
  }
  return {
    outcome: 'error',
    error: { status_code: 500, message: 'The run failed.', type: 'internal_error', details: '' },
  }
}

/** Of a run whose client did not send the results of its functions in time. */
export const expiredError: RunError = {
  status_code: 504,
  message: 'The client did not send the results of its functions in time.',
  type: 'expired',
  details: '',
}

export function stepLimitReached(limit: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: `The run reached its limit of ${limit} steps without a final answer.`,
    type: 'max_steps',
    nonRetryable: true,
    details: [422, `max_steps is ${limit}`],
  })
}
