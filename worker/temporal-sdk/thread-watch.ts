import type { Worker as Thread } from 'node:worker_threads'

/**
 * The processor time of one request. It is far more than what the slowest takes, and with the pauses between two looks
 * less than the shortest timeout of a workflow task (2 s), so that the failure still reaches the workflow's history.
 */
const limitMs = 1000
const pollEveryMs = 200

/**
 * Calls `onLoop` when the thread spends more than the limit on one request. Time that only passes does not count: on a
 * busy machine, or while the process is suspended, a request takes long without a loop. `begun` counts the requests that
 * the thread has begun. The returned function is called with each request, and what it returns when that is answered:
 * without one under way, nobody looks.
 */
export function watchThread(thread: Thread, begun: Int32Array, onLoop: () => void): () => () => void {
  let underWay = 0
  let timer: NodeJS.Timeout | undefined
  let isLooking = false
  let seen = -1
  let spentBefore: number | undefined

  async function look(): Promise<void> {
    const count = Atomics.load(begun, 0)
    if (count !== seen) {
      seen = count
      spentBefore = undefined
      return
    }
    const spent = await processorMs(thread)
    if (Atomics.load(begun, 0) !== count) return
    spentBefore ??= spent
    if (spent - spentBefore >= limitMs) onLoop()
  }

  function tick(): void {
    if (isLooking) return
    isLooking = true
    // A thread that has just ended has no processor time.
    look()
      .catch(() => undefined)
      .finally(() => (isLooking = false))
  }

  return () => {
    underWay++
    timer ??= setInterval(tick, pollEveryMs).unref()
    return () => {
      underWay--
      if (underWay > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }
}

async function processorMs(thread: Thread): Promise<number> {
  const { user, system } = await thread.cpuUsage()
  return (user + system) / 1000
}
