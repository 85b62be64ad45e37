import type { StepInput, StepQueued, StepResult } from '../../domain/contracts/thread.ts'
import { claimRun } from './claim.ts'
import type { StepDeps } from './step-deps.ts'
import type { LiveRun } from './live-run.ts'
import { modelStep, resultOfEarlierAttempt } from './model-step.ts'
import type { StepSlots } from './step-slots.ts'

export type Steps = ReturnType<typeof createSteps>

/**
 * The model steps of one process, as many at once as there are slots.
 *
 * If Temporal gives a run's first task to the process that stored it, the first step begins before the workflow asks
 * for it, and the workflow then joins it: readers wait some ten milliseconds less.
 */
export function createSteps(engine: StepDeps, slots: StepSlots, executeStep = modelStep) {
  const { liveRuns } = engine

  /** Undefined if the run was given up: then another attempt executes the step. */
  async function attempt(live: LiveRun): Promise<StepResult | undefined> {
    try {
      return await executeStep(engine, live)
    } catch (error) {
      if (live.isGivenUp) return undefined
      throw error
    }
  }

  /** The result of a step for the workflow that asked for it. */
  async function answer(
    live: LiveRun,
    result: Promise<StepResult | undefined>,
    signal: AbortSignal,
  ): Promise<StepResult | undefined> {
    const cancel = () => live.cancel(signal.reason)
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await result
    } finally {
      signal.removeEventListener('abort', cancel)
      live.apply(live.next ? 'pause' : 'end')
    }
  }

  async function execute(input: StepInput, signal: AbortSignal): Promise<StepResult> {
    const { runId, step } = input
    for (;;) {
      const here = liveRuns.get(runId)
      const live = here?.step === step && here.apply('ask') ? here : await claimRun(engine, input)
      if (live === null) return resultOfEarlierAttempt(engine, input)
      const result = await answer(live, attempt(live), signal)
      if (result !== undefined) return result
    }
  }

  return {
    /** Begins the first step of a run whose first task Temporal gave to this process, if a slot is free. */
    begin(live: LiveRun): void {
      // The workflow may have been quicker.
      const release = live.state === 'offered' ? slots.tryAcquire() : undefined
      if (release === undefined) return
      live.apply('begin')
      live.early = attempt(live).finally(release)
      // The workflow learns of a failure when it asks.
      live.early.catch(() => undefined)
    },

    /** Executes a step that a workflow asks for. `queued` if no slot is free and the step `mayLeave`. */
    async execute(
      input: StepInput,
      { signal, mayLeave }: { signal: AbortSignal; mayLeave: boolean },
    ): Promise<StepResult | StepQueued> {
      const { runId, step } = input
      const live = liveRuns.get(runId)
      if (step === 0 && live?.early && live.state === 'begun') {
        live.apply('ask')
        const result = await answer(live, live.early, signal)
        if (result !== undefined) return result
      }
      return slots.inSlot(runId, { signal, mayLeave }, () => execute(input, signal))
    },
  }
}
