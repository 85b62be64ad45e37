import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ModelUsage, RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { SupersededError } from './run-writer.ts'

interface AttemptUnderWay {
  fence: number
  stop(reason: Error): void
}

/** What a step hands to the next one. */
export interface PausedAttempt {
  run: RunRecord
  /** The step that continues it. */
  step: number
  assistant: AssistantRecord
  /** With the newest entry that this process knows. */
  thread: ThreadRecord | undefined
  /** The tokens of the steps so far, if they are known. */
  usages: ModelUsage[] | undefined
}

/** How long an attempt waits for its next step. Most tools answer within this time. */
const pausedMs = 10_000
const maxPaused = 1000

export type Attempts = ReturnType<typeof createAttempts>

/**
 * The attempts of runs in this process.
 *
 * An attempt under way whose run was ended or taken over is stopped, even if its model is silent.
 *
 * An attempt whose tools are being called is paused: the next step in this process continues it under the same fence,
 * so that it need not claim and read the run again. If another process has taken the run over meanwhile, the fence
 * refuses what this one publishes and stores. A step that finds nothing here claims the run.
 */
export function createAttempts({ clock = () => performance.now() } = {}) {
  const underWay = new Map<string, Set<AttemptUnderWay>>()
  const paused = new Map<string, PausedAttempt & { until: number }>()

  const current = (runId: string): PausedAttempt | undefined => {
    const attempt = paused.get(runId)
    return attempt !== undefined && clock() < attempt.until ? attempt : undefined
  }

  return {
    /** Registers an attempt until the returned function is called. */
    begin(runId: string, attempt: AttemptUnderWay): () => void {
      const attempts = underWay.get(runId) ?? new Set()
      underWay.set(runId, attempts.add(attempt))
      return () => {
        attempts.delete(attempt)
        if (attempts.size === 0) underWay.delete(runId)
      }
    },
    /** Stops attempts of the run with an older fence. */
    supersede(runId: string, fence: number): void {
      for (const attempt of underWay.get(runId) ?? []) if (attempt.fence < fence) attempt.stop(new SupersededError())
      if ((paused.get(runId)?.run.fence ?? fence) < fence) paused.delete(runId)
    },
    /** Keeps an attempt for its next step. */
    pause(attempt: PausedAttempt): void {
      const runId = attempt.run._id
      paused.delete(runId)
      // The oldest come first.
      for (const [id, { until }] of paused) {
        if (clock() < until && paused.size < maxPaused) break
        paused.delete(id)
      }
      paused.set(runId, { ...attempt, until: clock() + pausedMs })
    },
    /** The paused attempt of a run, for the tools that are called meanwhile. */
    between: current,
    /** Gives the paused attempt to its next step, once. */
    resume(runId: string, step: number): PausedAttempt | undefined {
      const attempt = current(runId)
      paused.delete(runId)
      return attempt?.step === step ? attempt : undefined
    },
  }
}
