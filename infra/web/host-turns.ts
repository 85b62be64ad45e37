import { setTimeout as sleep } from 'node:timers/promises'

interface Host {
  /** The end of the last request that was let in. */
  last: Promise<number>
  waiting: number
}

/** One request at a time to each host, with a pause after each, whoever asks. */
export function createHostTurns() {
  const hosts = new Map<string, Host>()

  return async function inTurn<T>(
    name: string,
    pauseMs: number,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    const host = hosts.get(name) ?? { last: Promise.resolve(0), waiting: 0 }
    hosts.set(name, host)
    const before = host.last
    const end = Promise.withResolvers<number>()
    host.last = end.promise
    host.waiting += 1
    try {
      const readyAt = (await before) + pauseMs
      const left = readyAt - Date.now()
      if (left > 0) await sleep(left, undefined, { signal })
      signal.throwIfAborted()
      return await work()
    } finally {
      host.waiting -= 1
      end.resolve(Date.now())
      if (host.waiting === 0) setTimeout(() => host.waiting === 0 && hosts.delete(name), forgetMs).unref()
    }
  }
}

/** Longer than any pause. */
const forgetMs = 120_000
