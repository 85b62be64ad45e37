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

/** How long a start lasts for each start that is under way: about its processor time. */
const perStartMs = 50
/** A workflow task may take so many times longer than the start of a run. */
const margin = 4
/** The longest task timeout, as a multiple of the configured one. */
const longestTimes = 10
/** How long a slow start counts. */
const recentMs = 10_000

export type FirstAttempts = ReturnType<typeof createFirstAttempts>

/**
 * Hands a run from the request that stored it to its first step in the same process, which then needs neither to
 * claim nor to read it. Each is taken once, so that the first fence has one owner. A step that finds nothing here
 * claims the run.
 *
 * It also decides the timeout of the run's first workflow task. A busy process reports late to the server. If its
 * tasks timed out, other processes would execute the same steps again, and all would become slower still. So the
 * timeout is the configured one while starts are quick, and grows with them.
 */
export function createFirstAttempts({
  taskTimeoutMs,
  clock = () => performance.now(),
}: {
  /** The timeout of a workflow task in a process that is not busy. */
  taskTimeoutMs: number
  clock?: () => number
}) {
  const offers = new Map<string, FirstAttempt & { until: number }>()
  /** When each start that is under way began. */
  const starts = new Map<string, number>()
  let slowest = { ms: 0, at: 0 }

  function noteStart(ms: number): void {
    const now = clock()
    if (ms >= slowest.ms || now > slowest.at + recentMs) slowest = { ms, at: now }
  }

  function timeoutMs(): number {
    const recent = clock() <= slowest.at + recentMs ? slowest.ms : 0
    const expected = Math.max(recent, starts.size * perStartMs)
    return Math.round(Math.min(Math.max(taskTimeoutMs, expected * margin), taskTimeoutMs * longestTimes))
  }

  function forget(runId: string): boolean {
    starts.delete(runId)
    return offers.delete(runId)
  }

  return {
    /**
     * Call this before the run is stored and passed to Temporal. Returns the timeout of its first workflow task, in
     * milliseconds. Until then no other process is given the task, so the offer is valid for that time.
     */
    offer(attempt: FirstAttempt): number {
      const { _id } = attempt.run
      const validMs = timeoutMs()
      const since = clock()
      starts.set(_id, since)
      offers.set(_id, { ...attempt, until: since + validMs })
      setTimeout(() => forget(_id), validMs).unref()
      return validMs
    },
    withdraw: forget,
    /** Whether the workflow has not asked for the first step yet. */
    isStarting: (runId: string): boolean => starts.has(runId),
    take(runId: string): FirstAttempt | undefined {
      const offer = offers.get(runId)
      offers.delete(runId)
      return offer !== undefined && clock() < offer.until ? offer : undefined
    },
    /** The workflow asks for the first step: the start of the run is over. */
    noteStarted(runId: string): void {
      const since = starts.get(runId)
      if (since !== undefined) noteStart(clock() - since)
      starts.delete(runId)
    },
  }
}
