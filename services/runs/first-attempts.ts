import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'

/** What the process that stores a run knows of it already. */
export interface FirstAttempt {
  run: RunRecord
  assistant: AssistantRecord
  thread: ThreadRecord
}

/** The fence with which a run is stored. It belongs to the process that stored it. */
export const firstFence = 1

/**
 * Temporal gives a run's first task elsewhere only when its time is over. This is less than that, and
 * counted from before the task exists.
 */
const validMs = 500

export type FirstAttempts = ReturnType<typeof createFirstAttempts>

/**
 * Hands a run from the request that stored it to its first step in the same process, which so needs
 * neither to claim nor to read it: each is taken once, so that the first fence has one owner. Whoever
 * finds nothing here claims the run.
 */
export function createFirstAttempts({ clock = () => performance.now() } = {}) {
  const offers = new Map<string, FirstAttempt & { until: number }>()
  return {
    /** To be called before Temporal hears of the run. */
    offer(attempt: FirstAttempt): void {
      const { _id } = attempt.run
      offers.set(_id, { ...attempt, until: clock() + validMs })
      setTimeout(() => offers.delete(_id), validMs).unref()
    },
    withdraw: (runId: string): boolean => offers.delete(runId),
    take(runId: string): FirstAttempt | undefined {
      const offer = offers.get(runId)
      offers.delete(runId)
      return offer !== undefined && clock() < offer.until ? offer : undefined
    },
  }
}
