import { addAbortListener } from 'node:events'
import type {
  ClientTurnResult,
  FinalizeInput,
  FinalizeResult,
  OnThread,
  StepInput,
  StepQueued,
  StepResult,
} from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import { eventIdOf } from '../../domain/ids.ts'
import { isUntouched } from '../../domain/records/run.ts'
import { runStore } from '../stores/runs.ts'
import { commitResultsAsEnd } from './commit.ts'
import { resultOfEarlierAttempt } from './earlier-attempt.ts'
import { finalizeRun } from './finalize.ts'
import { toolMessages } from './ledger.ts'
import type { LiveRun } from './live-runs.ts'
import { modelStep } from './model-step.ts'
import type { StepDeps } from './step-deps.ts'
import type { StepSlots } from './step-slots.ts'
import { executedRunStore, ledgerStore, waitingRunStore } from './store.ts'

export { AnswerNotStoredError } from './commit.ts'
export { RunLimitError } from '../budgets/usage.ts'
export { SupersededError } from './live-runs.ts'

/**
 * The workflow makes eight attempts itself; the rest is for workers that died. Their attempts are in no history, so
 * that only the fence shows that a run kills each worker that takes it.
 */
const maxAttemptsOfStep = 16

/**
 * Takes the next fence of an open run: from then on, everything that earlier attempts publish or store is refused.
 * Null if the run has ended or is gone.
 */
async function claim(
  { liveRuns, collections }: StepDeps,
  { threadId, runId, step }: OnThread<StepInput>,
): Promise<LiveRun | null> {
  const now = new Date()
  const before = await executedRunStore(collections).claim({ _id: runId, thread_id: threadId }, now)
  if (before === null) return null
  if (before.fence - (before.step_fence ?? 0) >= maxAttemptsOfStep)
    throw new AppError('internal', 'The run was attempted too often without a result.')
  const run = { ...before, fence: before.fence + 1, status: 'running' as const, started_at: before.started_at ?? now }
  return liveRuns.claimed(run, { step, isFresh: isUntouched(before) })
}

export type Steps = ReturnType<typeof createSteps>

/**
 * What the workflow of a thread asks a process to do. Model steps: as many at once as there are slots.
 *
 * If Temporal gives a run's first task to the process that stored it, the first step begins before the workflow asks
 * for it, and the workflow then joins it: readers wait some ten milliseconds less.
 */
export function createSteps(deps: StepDeps, slots: StepSlots, executeStep = modelStep) {
  const { liveRuns } = deps

  /** Undefined if the run was given up: then another attempt executes the step. */
  async function attempt(live: LiveRun): Promise<StepResult | undefined> {
    if (live.step === 0 && live.isFresh) deps.tracing.begun(live.run)
    try {
      return await executeStep(deps, live)
    } catch (error) {
      if (live.isGivenUp) return undefined
      throw error
    }
  }

  /** The result of an attempt for the workflow that asked for the step. */
  async function answer(
    live: LiveRun,
    result: Promise<StepResult | undefined>,
    signal: AbortSignal,
  ): Promise<StepResult | undefined> {
    using _ = addAbortListener(signal, () => live.cancel(signal.reason))
    try {
      return await result
    } finally {
      live.apply(live.next ? 'pause' : 'end')
    }
  }

  async function execute(input: OnThread<StepInput>, signal: AbortSignal): Promise<StepResult> {
    for (;;) {
      const here = liveRuns.get(input.runId)
      const live = here?.step === input.step && here.apply('ask') ? here : await claim(deps, input)
      if (live === null) return resultOfEarlierAttempt(deps, input)
      const result = await answer(live, attempt(live), signal)
      if (result !== undefined) return result
    }
  }

  return {
    /** Begins the first step of a run whose first task Temporal gave to this process, if a slot is free. */
    begin(live: LiveRun): void {
      // The workflow may already have asked for the step.
      const release = live.state === 'offered' ? slots.tryAcquire() : undefined
      if (release === undefined) return
      live.apply('begin')
      live.early = attempt(live).finally(release)
      // The workflow awaits this when it asks. It may never ask, so a failure must not count as unhandled.
      live.early.catch(() => undefined)
    },

    /** Executes a model step that a workflow asks for. `queued` if no slot is free. */
    async execute(input: OnThread<StepInput>, signal: AbortSignal): Promise<StepResult | StepQueued> {
      const { threadId, runId, step } = input
      const live = liveRuns.get(runId)
      if (live?.early && live.step === step && live.apply('ask')) {
        const result = await answer(live, live.early, signal)
        if (result !== undefined) return result
      }
      return slots.inSlot({ _id: runId, thread_id: threadId }, signal, () => execute(input, signal))
    },

    /** Lets a run wait for results of its client, or end without them. */
    clientTurn: (input: OnThread<StepInput>): Promise<ClientTurnResult> => clientTurn(deps, input),

    /** Ends a run that did not end by itself. */
    finalize: (input: OnThread<FinalizeInput>, options: { endAnyway: boolean }): Promise<FinalizeResult> =>
      finalizeRun(deps, input, options),
  }
}

/**
 * After the calls of an answer that are executed here have their results: the run waits for the results of those that
 * the client executes, or ends with the answer. Safe to repeat. It publishes the results in the order of the calls:
 * readers have not received those behind a call of the client.
 */
async function clientTurn(deps: StepDeps, { threadId, runId, step }: OnThread<StepInput>): Promise<ClientTurnResult> {
  const { collections } = deps
  const run = await runStore(collections).findInThread({ _id: runId, thread_id: threadId })
  if (run === null) return { status: 'cancelled' }
  const publish = (entry: { type: 'interrupted' } | { type: 'end' }) =>
    deps.stream.publish(runId, run.fence, [entry]).catch(deps.onError)
  if (run.status !== 'running') {
    // An earlier attempt may have died before it told the readers.
    if (run.status === 'interrupted') await publish({ type: 'interrupted' })
    if (run.status === 'success') await publish({ type: 'end' })
    return { status: run.status }
  }
  const results = await toolMessages(collections, { runId, step, ownOnly: true })
  const published = await deps.stream
    .publish(
      runId,
      run.fence,
      results.map((message) => ({ type: 'message' as const, message })),
    )
    .catch(deps.onError)
  const lastEvent = published ? { last_data_event_id: eventIdOf(published.id, 'data') } : {}
  if (run.overrides.client_calls === 'return') {
    await commitResultsAsEnd(deps, run, step, { results, lastEvent })
    await publish({ type: 'end' })
    return { status: 'success' }
  }
  if (!(await ledgerStore(collections).waitsForClient(runId, step))) return { status: 'running' }
  const { client_calls_expire_seconds: seconds } = run.overrides
  const waiting = {
    ...lastEvent,
    ...(seconds === undefined ? {} : { expires_at: new Date(Date.now() + seconds * 1000) }),
  }
  // Otherwise the run has just ended, and its workflow is told.
  if (await waitingRunStore(collections).interrupt(run, waiting)) await publish({ type: 'interrupted' })
  return { status: 'interrupted' }
}
