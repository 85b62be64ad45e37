import type { Collections } from '../collections.ts'
import { createSemaphore } from '../semaphore.ts'

/** Executes a model step when its turn comes; throws the signal's reason if the signal aborts first. */
export type InStepSlot = <T>(runId: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/**
 * Limits the model steps that one process executes at once. Steps that find no free slot wait, and their users take
 * turns, so that the queue of one user delays another by one step at most. Temporal's worker would execute them in
 * the order of arrival. While there are free slots, the owner of the run is not looked up.
 */
export function createStepSlots({ runs }: Pick<Collections, 'runs'>, slots: number): InStepSlot {
  const semaphore = createSemaphore({ slots, waitingPerOwner: Infinity })

  async function ownerOf(runId: string): Promise<string> {
    const run = await runs.findById(runId, { user_id: 1 }).lean()
    return run?.user_id ?? ''
  }

  return async (runId, signal, work) => {
    const release = semaphore.tryAcquire() ?? (await semaphore.acquire(await ownerOf(runId), signal))
    try {
      return await work()
    } finally {
      release?.()
    }
  }
}
