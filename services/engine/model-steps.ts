import type { StepInput, StepQueued, StepResult } from '../../domain/contracts/thread.ts'
import type { FirstAttempts } from '../runs/first-attempts.ts'
import { SupersededError } from './run-writer.ts'
import type { StepSlots } from './step-slots.ts'

/** A first step that the workflow has not asked for yet. */
interface BegunStep {
  result: Promise<StepResult>
  cancellation: AbortController
  timer: NodeJS.Timeout
}

export type ModelSteps = ReturnType<typeof createModelSteps>

/**
 * The model steps of one process, as many at once as there are slots.
 *
 * The first step of a run begins when Temporal gives its first workflow task to this process, not when the workflow
 * asks for it some milliseconds later. The workflow then joins it. So readers wait less for the first words.
 */
export function createModelSteps({
  firstAttempts,
  slots,
  modelStep,
}: {
  firstAttempts: Pick<FirstAttempts, 'isStarting' | 'noteStarted'>
  slots: StepSlots
  modelStep(input: StepInput, signal: AbortSignal): Promise<StepResult>
}) {
  const begun = new Map<string, BegunStep>()

  function take(runId: string): BegunStep | undefined {
    const step = begun.get(runId)
    clearTimeout(step?.timer)
    begun.delete(runId)
    return step
  }

  async function join({ result, cancellation }: BegunStep, signal: AbortSignal): Promise<StepResult> {
    const cancel = () => cancellation.abort(signal.reason)
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    return result.finally(() => signal.removeEventListener('abort', cancel))
  }

  return {
    /**
     * Begins the first step of a run that this process has stored, unless all slots are taken. If the workflow does
     * not ask for it within `validMs`, another process may execute it, and it is stopped.
     */
    beginFirst(runId: string, validMs: number): void {
      // The workflow may have been quicker.
      if (!firstAttempts.isStarting(runId)) return
      const release = slots.tryAcquire()
      if (release === undefined) return
      const cancellation = new AbortController()
      const result = modelStep({ runId, step: 0 }, cancellation.signal).finally(release)
      // The workflow learns of a failure when it joins.
      result.catch(() => undefined)
      const expire = () => take(runId)?.cancellation.abort(new SupersededError())
      begun.set(runId, { result, cancellation, timer: setTimeout(expire, validMs).unref() })
    },

    /** Executes a step that a workflow asks for. `queued` if no slot is free and the step `mayLeave`. */
    async execute(
      input: StepInput,
      { signal, mayLeave }: { signal: AbortSignal; mayLeave: boolean },
    ): Promise<StepResult | StepQueued> {
      const { runId, step } = input
      if (step === 0) {
        firstAttempts.noteStarted(runId)
        const first = take(runId)
        if (first !== undefined) return join(first, signal)
      }
      return slots.inSlot(runId, { signal, mayLeave }, () => modelStep(input, signal))
    },
  }
}
