export interface TaskTimeoutOptions {
  /** The timeout of a workflow task in a process that is not busy. */
  taskTimeoutMs: number
  clock?: () => number
}

/** By how much each start that is under way makes the others last longer: about its processor time. */
const perStartMs = 50
/** A workflow task may take so many times longer than the start of a run. */
const margin = 4
/** The longest task timeout, as a multiple of the configured one. */
const longestTimes = 10
/** How long a slow start counts. */
const recentMs = 10_000

/**
 * Decides the timeout of a run's first workflow task. A busy process reports late to the server. If its tasks timed
 * out, other processes would execute the same steps again, and all would become slower still. So the timeout is the
 * configured one while starts are quick, and grows with them.
 */
export function createTaskTimeouts({ taskTimeoutMs, clock = () => performance.now() }: TaskTimeoutOptions) {
  let underWay = 0
  let slowest = { ms: 0, at: 0 }

  return {
    /**
     * A run is about to be started. `ended` is called once, when the start is over: `asked` says that the workflow has
     * asked for the first step.
     */
    begin(): { timeoutMs: number; ended(how: { asked: boolean }): void } {
      const since = clock()
      underWay += 1
      const recent = since <= slowest.at + recentMs ? slowest.ms : 0
      const expected = Math.max(recent, underWay * perStartMs)
      return {
        timeoutMs: Math.round(Math.min(Math.max(taskTimeoutMs, expected * margin), taskTimeoutMs * longestTimes)),
        ended({ asked }) {
          underWay -= 1
          const now = clock()
          const ms = now - since
          if (asked && (ms >= slowest.ms || now > slowest.at + recentMs)) slowest = { ms, at: now }
        },
      }
    },
  }
}
