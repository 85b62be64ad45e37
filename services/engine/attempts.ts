import { SupersededError } from './run-writer.ts'

interface Attempt {
  fence: number
  stop(reason: Error): void
}

export type Attempts = ReturnType<typeof createAttempts>

/**
 * The attempts under way in this process. An attempt whose run was ended or taken over is stopped here, even if its
 * model is silent.
 */
export function createAttempts() {
  const byRun = new Map<string, Set<Attempt>>()
  return {
    /** Registers an attempt until the returned function is called. */
    begin(runId: string, attempt: Attempt): () => void {
      const attempts = byRun.get(runId) ?? new Set()
      byRun.set(runId, attempts.add(attempt))
      return () => {
        attempts.delete(attempt)
        if (attempts.size === 0) byRun.delete(runId)
      }
    },
    /** Stops attempts of the run with an older fence. */
    supersede(runId: string, fence: number): void {
      for (const attempt of byRun.get(runId) ?? []) if (attempt.fence < fence) attempt.stop(new SupersededError())
    },
  }
}
