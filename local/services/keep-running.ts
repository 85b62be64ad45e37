import { setTimeout as pause } from 'node:timers/promises'
import { backOffMs } from '../../domain/back-off.ts'
import { reason } from './ways.ts'

/** A process that was started here. `exited` resolves when it ends, for whatever reason. */
export interface Life {
  pid: number | undefined
  exited: Promise<string>
  stop: (limitMs?: number) => Promise<void>
}

export interface Watch {
  /** Called with a line each time something was restarted or given up. */
  say: (line: string) => void
  /** Called for every process that is started, including the first. */
  onStart?: (name: string, pid: number | undefined) => void
}

interface Kept<T extends Life> {
  /** As the subject of a sentence: `Redis`, `The worker`. */
  name: string
  first: T
  /** Starts another process; aborting the signal stops it. */
  start: (signal: AbortSignal) => T | Promise<T>
  /** After running this long, a process counts as good, and the next pause is short again. */
  stableMs: number
  /** After this many failures in a row, it is not started again. */
  maxFailures: number
  /** Added to the message when it is given up. */
  whereToLook: string
}

const firstPauseMs = 100
const longestPauseMs = 10_000

/** Keeps a process running: when it exits, another one is started, first at once, then after pauses that double. */
export function keepRunning<T extends Life>(kept: Kept<T>, { say, onStart }: Watch) {
  const stopping = new AbortController()
  const { promise: firstEnd, resolve: onFirstEnd } = Promise.withResolvers<string>()
  let life = kept.first
  onStart?.(kept.name, life.pid)

  /** Another process, or undefined if it is stopped or given up. */
  const another = async (how: string, failures: number): Promise<T | undefined> => {
    if (failures > kept.maxFailures) {
      say(`${kept.name} ended ${failures} times in a row (${how}) and is not started again. ${kept.whereToLook}`)
      return undefined
    }
    const pauseMs = backOffMs(Math.max(failures, 1), { firstMs: firstPauseMs, longestMs: longestPauseMs })
    await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    if (stopping.signal.aborted) return undefined
    try {
      return await kept.start(stopping.signal)
    } catch (error) {
      return stopping.signal.aborted ? undefined : another(reason(error), failures + 1)
    }
  }

  const loop = async () => {
    let failures = 0
    for (;;) {
      const startedAt = Date.now()
      const how = await life.exited
      if (stopping.signal.aborted) return
      onFirstEnd(how)
      failures = Date.now() - startedAt >= kept.stableMs ? 1 : failures + 1
      const next = await another(how, failures)
      if (next === undefined) return
      life = next
      onStart?.(kept.name, life.pid)
      say(`${kept.name} ended (${how}); started again as process ${life.pid ?? '?'}`)
    }
  }
  const running = loop()

  return {
    pid: () => life.pid,
    /** Resolves with the reason when it ends by itself for the first time. */
    firstEnd,
    /** Resolves with how it ended. */
    async stop(limitMs?: number): Promise<string> {
      stopping.abort()
      await life.stop(limitMs)
      await running
      // A process may have been started while the stop began.
      await life.stop(limitMs)
      return life.exited
    },
  }
}
