import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'

/** What the process that stores a run has already read. */
export interface FirstAttempt {
  run: RunRecord
  assistant: AssistantRecord
  thread: ThreadRecord
}

/** The fence with which a run is stored. It belongs to the process that stored it. */
export const firstFence = 1

/**
 * Temporal gives a run's first task to another worker only after the task's timeout. This is shorter, and counted
 * from before the task exists.
 */
const validMs = 500

export type FirstAttempts = ReturnType<typeof createFirstAttempts>

/**
 * Hands a run from the request that stored it to its first step in the same process, which then needs neither to
 * claim nor to read it. Each is taken once, so that the first fence has one owner. A step that finds nothing here
 * claims the run.
 */
export function createFirstAttempts({ clock = () => performance.now() } = {}) {
  const offers = new Map<string, FirstAttempt & { until: number }>()
  return {
    /** Call this before the run is passed to Temporal. */
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
