import type { StepInput, StepQueued, StepResult } from '../../domain/contracts/thread.ts'
import type { FirstAttempts } from '../runs/first-attempts.ts'
import { pausedMs } from './attempts.ts'
import { type StepHold, SupersededError } from './run-writer.ts'
import type { StepSlots } from './step-slots.ts'

/** A step that began before the workflow asked for it. */
interface BegunStep {
  /** Undefined if the step was dropped. */
  result: Promise<StepResult | undefined>
  cancellation: AbortController
  hold: { [name in keyof StepHold]: PromiseWithResolvers<void> }
  timer: NodeJS.Timeout
  isConfirmed: boolean
  isJoined: boolean
  isDropped: boolean
}

export interface StepOptions {
  signal: AbortSignal
  hold?: StepHold | undefined
}

export type ModelSteps = ReturnType<typeof createModelSteps>

/**
 * The model steps of one process, as many at once as there are slots.
 *
 * A step begins before the workflow asks for it if this process knows that it will: the first step of a run when
 * Temporal gives the run's first workflow task to this process, or while the run is being stored if its thread is known
 * to be idle; further steps when all tools have been called here. The workflow then joins the step. So readers wait
 * less.
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
  /** By run and number, until they are both confirmed and joined, or dropped. */
  const begun = new Map<string, BegunStep>()

  function begin(input: StepInput, validMs: number): void {
    const key = keyOf(input)
    const release = begun.has(key) ? undefined : slots.tryAcquire()
    if (release === undefined) return
    const cancellation = new AbortController()
    const hold = { accepted: Promise.withResolvers<void>(), confirmed: Promise.withResolvers<void>() }
    const { accepted, confirmed } = hold
    const result = modelStep(input, {
      signal: cancellation.signal,
      hold: { accepted: accepted.promise, confirmed: confirmed.promise },
    })
      .catch((error: unknown) => {
        if (step.isDropped) return undefined
        throw error
      })
      .finally(release)
    const timer = setTimeout(() => drop(key), validMs).unref()
    const step = { result, cancellation, hold, timer, isConfirmed: false, isJoined: false, isDropped: false }
    // The workflow learns of a failure when it joins.
    for (const promise of [result, accepted.promise, confirmed.promise]) promise.catch(() => undefined)
    begun.set(key, step)
  }

  function confirm(key: string): void {
    const step = begun.get(key)
    if (step === undefined) return
    step.isConfirmed = true
    step.hold.accepted.resolve()
    step.hold.confirmed.resolve()
    if (step.isJoined) begun.delete(key)
  }

  function drop(key: string): void {
    const step = begun.get(key)
    if (step === undefined) return
    clearTimeout(step.timer)
    begun.delete(key)
    step.isDropped = true
    const reason = new SupersededError()
    step.hold.accepted.reject(reason)
    step.hold.confirmed.reject(reason)
    step.cancellation.abort(reason)
  }

  async function join(key: string, step: BegunStep, signal: AbortSignal): Promise<StepResult | undefined> {
    clearTimeout(step.timer)
    step.isJoined = true
    if (step.isConfirmed) begun.delete(key)
    const cancel = () => step.cancellation.abort(signal.reason)
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    return step.result.finally(() => signal.removeEventListener('abort', cancel))
  }

  return {
    /**
     * Begins the first step of a run that this process stores, unless it has begun or all slots are taken. What it
     * produces is held back until `acceptFirst` and `confirmFirst`. If the workflow does not ask for it within
     * `validMs`, another process may execute it, and it is dropped.
     */
    beginFirst(runId: string, validMs: number): void {
      // The workflow may have been quicker.
      if (firstAttempts.isStarting(runId)) begin({ runId, step: 0 }, validMs)
    },

    /** The run is accepted: readers may see what the step produces. */
    acceptFirst: (runId: string): void => begun.get(keyOf({ runId, step: 0 }))?.hold.accepted.resolve(),

    /** The run's thread is there, and nothing was added to it since the step began: its answer may be stored. */
    confirmFirst: (runId: string): void => confirm(keyOf({ runId, step: 0 })),

    /**
     * Stops the step. Nothing of it is stored, and a workflow that asks for it gets another execution, which replaces
     * what readers have seen.
     */
    dropFirst: (runId: string): void => drop(keyOf({ runId, step: 0 })),

    /** Begins a step whose tools have all been called in this process, which has the paused attempt. */
    beginNext(input: StepInput): void {
      begin(input, pausedMs)
      confirm(keyOf(input))
    },

    /** Executes a step that a workflow asks for. `queued` if no slot is free and the step `mayLeave`. */
    async execute(
      input: StepInput,
      { signal, mayLeave }: { signal: AbortSignal; mayLeave: boolean },
    ): Promise<StepResult | StepQueued> {
      const { runId, step } = input
      if (step === 0) firstAttempts.noteStarted(runId)
      const key = keyOf(input)
      const early = begun.get(key)
      const result = early && (await join(key, early, signal))
      if (result !== undefined) return result
      return slots.inSlot(runId, { signal, mayLeave }, () => modelStep(input, { signal }))
    },
  }
}

function keyOf({ runId, step }: StepInput): string {
  return `${runId}/${step}`
}
