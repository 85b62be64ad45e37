import { LRUCache } from 'lru-cache'
import type { ToolInput } from '../../domain/contracts/thread.ts'
import type { Message } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ModelUsage, RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { SupersededError } from './run-writer.ts'

interface AttemptUnderWay {
  fence: number
  threadId: string
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
  /**
   * The results of the calls before this step, by number; undefined for each that was not made here yet. Undefined
   * as a whole if there may be no such step.
   */
  results: (Message | undefined)[] | undefined
}

/** How long an attempt waits for its next step. Most tools answer within this time. */
export const pausedMs = 10_000
const maxPaused = 1000
/** Within this time after an attempt's end, the workflow of its thread may not have ended yet. */
const endingMs = 500
const maxEnding = 1000

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
  const timing = { ttlResolution: 0, perf: { now: clock } }
  const paused = new LRUCache<string, PausedAttempt>({ max: maxPaused, ttl: pausedMs, ...timing })
  /** Threads of attempts that have just ended. */
  const ending = new LRUCache<string, true>({ max: maxEnding, ttl: endingMs, ...timing })

  return {
    /** Registers an attempt until the returned function is called. */
    begin({ _id: runId, thread_id: threadId, fence }: RunRecord, stop: (reason: Error) => void): () => void {
      const attempt = { fence, threadId, stop }
      const attempts = underWay.get(runId) ?? new Set()
      underWay.set(runId, attempts.add(attempt))
      return () => {
        attempts.delete(attempt)
        if (attempts.size === 0) underWay.delete(runId)
        ending.set(threadId, true)
      }
    },
    /** Whether a run of the thread is under way in this process, or its workflow may not have ended yet. */
    isBusy(threadId: string): boolean {
      if (ending.has(threadId)) return true
      for (const attempts of underWay.values())
        for (const attempt of attempts) if (attempt.threadId === threadId) return true
      for (const { run } of paused.values()) if (run.thread_id === threadId) return true
      return false
    },
    /** Stops attempts of the run with an older fence. */
    supersede(runId: string, fence: number): void {
      for (const attempt of underWay.get(runId) ?? []) if (attempt.fence < fence) attempt.stop(new SupersededError())
      if ((paused.get(runId)?.run.fence ?? fence) < fence) paused.delete(runId)
    },
    /** Keeps an attempt for its next step. */
    pause: (attempt: PausedAttempt): void => void paused.set(attempt.run._id, attempt),
    /** The paused attempt of a run, for the tools that are called meanwhile. */
    between: (runId: string): PausedAttempt | undefined => paused.get(runId),
    /**
     * A call was made in this process; its result is stored. Returns whether it was the last one before the next
     * step.
     */
    noteCall({ runId, step, index }: ToolInput, result: Message): boolean {
      const attempt = paused.get(runId)
      if (attempt?.step !== step + 1 || !attempt.results) return false
      const { results } = attempt
      if (index >= results.length || results[index] !== undefined) return false
      results[index] = result
      return !results.includes(undefined)
    },
    /** Gives the paused attempt to its next step, once. */
    resume(runId: string, step: number): PausedAttempt | undefined {
      const attempt = paused.get(runId)
      paused.delete(runId)
      return attempt?.step === step ? attempt : undefined
    },
  }
}
