import type { StepInput, StepQueued, StepResult } from '../../domain/contracts/thread.ts'
import type { FirstAttempts } from '../runs/first-attempts.ts'
import { SupersededError } from './run-writer.ts'
import type { StepSlots } from './step-slots.ts'

/** A first step that began before the workflow asked for it. */
interface BegunStep {
  /** Undefined if the step was dropped. */
  result: Promise<StepResult | undefined>
  cancellation: AbortController
  /** What the step waits for before it publishes or stores anything. */
  acceptance: PromiseWithResolvers<void>
  timer: NodeJS.Timeout
  isAccepted: boolean
  isJoined: boolean
  isDropped: boolean
}

export interface StepOptions {
  signal: AbortSignal
  /** The step publishes and stores nothing before this is fulfilled. */
  accepted?: Promise<void> | undefined
}

export type ModelSteps = ReturnType<typeof createModelSteps>

/**
 * The model steps of one process, as many at once as there are slots.
 *
 * The first step of a run begins before the workflow asks for it: at the latest when Temporal gives the run's first
 * workflow task to this process, and as soon as the run is stored if its thread is known to be idle. The workflow then
 * joins it. So readers wait less for the first words.
 */
export function createModelSteps({
  firstAttempts,
  slots,
  modelStep,
}: {
  firstAttempts: Pick<FirstAttempts, 'isStarting' | 'noteStarted'>
  slots: StepSlots
  modelStep(input: StepInput, options: StepOptions): Promise<StepResult>
}) {
  /** Until they are both accepted and joined, or dropped. */
  const begun = new Map<string, BegunStep>()

  function drop(runId: string): void {
    const step = begun.get(runId)
    if (step === undefined) return
    clearTimeout(step.timer)
    begun.delete(runId)
    step.isDropped = true
    const reason = new SupersededError()
    step.acceptance.reject(reason)
    step.cancellation.abort(reason)
  }

  async function join(runId: string, step: BegunStep, signal: AbortSignal): Promise<StepResult | undefined> {
    clearTimeout(step.timer)
    step.isJoined = true
    if (step.isAccepted) begun.delete(runId)
    const cancel = () => step.cancellation.abort(signal.reason)
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    return step.result.finally(() => signal.removeEventListener('abort', cancel))
  }

  return {
    /**
     * Begins the first step of a run that this process has stored, unless it has begun or all slots are taken. What it
     * produces is held back until `acceptFirst`. If the workflow does not ask for it within `validMs`, another process
     * may execute it, and it is dropped.
     */
    beginFirst(runId: string, validMs: number): void {
      // The workflow may have been quicker.
      if (begun.has(runId) || !firstAttempts.isStarting(runId)) return
      const release = slots.tryAcquire()
      if (release === undefined) return
      const cancellation = new AbortController()
      const acceptance = Promise.withResolvers<void>()
      const result = modelStep({ runId, step: 0 }, { signal: cancellation.signal, accepted: acceptance.promise })
        .catch((error: unknown) => {
          if (step.isDropped) return undefined
          throw error
        })
        .finally(release)
      const timer = setTimeout(() => drop(runId), validMs).unref()
      const step = { result, cancellation, acceptance, timer, isAccepted: false, isJoined: false, isDropped: false }
      // The workflow learns of a failure when it joins.
      result.catch(() => undefined)
      acceptance.promise.catch(() => undefined)
      begun.set(runId, step)
    },

    /** The run was accepted, and nothing was added to its thread since the step began. */
    acceptFirst(runId: string): void {
      const step = begun.get(runId)
      if (step === undefined) return
      step.isAccepted = true
      step.acceptance.resolve()
      if (step.isJoined) begun.delete(runId)
    },

    /** Stops the step. Nothing of it remains, and a workflow that asks for it gets another execution. */
    dropFirst: drop,

    /** Executes a step that a workflow asks for. `queued` if no slot is free and the step `mayLeave`. */
    async execute(
      input: StepInput,
      { signal, mayLeave }: { signal: AbortSignal; mayLeave: boolean },
    ): Promise<StepResult | StepQueued> {
      const { runId, step } = input
      if (step === 0) {
        firstAttempts.noteStarted(runId)
        const first = begun.get(runId)
        const result = first && (await join(runId, first, signal))
        if (result !== undefined) return result
      }
      return slots.inSlot(runId, { signal, mayLeave }, () => modelStep(input, { signal }))
    },
  }
}
