import type { Collections } from '../collections.ts'
import { createSemaphore } from '../semaphore.ts'

/** Does a model step when it is its turn; throws the signal's reason when that comes first. */
export type InStepSlot = <T>(runId: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/**
 * Limits the model steps that one process executes at once. Steps that find no free slot wait, and their users take
 * turns, so that the queue of one user delays another by one step at most. Temporal's worker would execute them in the
 * order of arrival. While there are free slots nobody is asked whose run it is.
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
