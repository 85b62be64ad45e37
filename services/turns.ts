import { setImmediate as nextTurn } from 'node:timers/promises'

/** Processor time of this thread after which others get their turn. */
const turnMs = 10

/**
 * For loops over what others have sent: `next`, called after each step, lets the other requests of this process go on
 * when the loop has taken 10 ms of processor time. A step itself must be bounded. `test/loops.test.ts` lists the loops.
 */
export function createTurns() {
  let begun = process.threadCpuUsage()
  return {
    async next(): Promise<void> {
      const { user, system } = process.threadCpuUsage(begun)
      if (user + system < turnMs * 1000) return
      await nextTurn()
      begun = process.threadCpuUsage()
    },
  }
}
