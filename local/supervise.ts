import { setTimeout as pause } from 'node:timers/promises'
import { type Child, type ChildOptions, startChild } from './child-process.ts'

/** A run that lasted this long counts as good: the next pause is short again. */
const stableMs = 20_000
const firstPauseMs = 100
const longestPauseMs = 10_000

export type Supervised = ReturnType<typeof supervise>

/**
 * Keeps a process running: when it ends by itself it is started again, at first at once (whoever kills
 * a worker waits for it), then after pauses that double. `say` gets one line each time.
 */
export function supervise(options: ChildOptions, say: (line: string) => void) {
  let stopping = false
  let child: Child = startChild(options)
  const { promise: firstEnd, resolve: onFirstEnd } = Promise.withResolvers<string>()
  const wake = new AbortController()

  const loop = async () => {
    let pauseMs = firstPauseMs
    for (;;) {
      const startedAt = Date.now()
      const how = await child.exited
      if (stopping) return
      onFirstEnd(how)
      pauseMs = Date.now() - startedAt >= stableMs ? firstPauseMs : pauseMs
      await pause(pauseMs, undefined, { signal: wake.signal }).catch(() => undefined)
      if (stopping) return
      child = startChild(options)
      say(`The ${options.name} ended (${how}); started again as process ${child.pid ?? '?'}`)
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
  }
  const running = loop()

  return {
    name: options.name,
    pid: () => child.pid,
    /** Resolves, with how, when it ends by itself for the first time. */
    firstEnd,
    async stop(limitMs: number): Promise<void> {
      stopping = true
      wake.abort()
      await child.stop(limitMs)
      await running
    },
  }
}
