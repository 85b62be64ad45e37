import { hash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { CountTokens } from '../../services/runs/chat-model.ts'
import type { CountAnswer, CountCancelled, CountJob } from './messages.ts'

interface Waiting {
  resolve(counts: number[]): void
  reject(error: unknown): void
}

/**
 * Counts tokens in a separate thread: a megabyte takes seconds, which would block this one. The thread starts with
 * the first text and works on the texts of several users in turns. Each text is counted once.
 */
export function createTokenCounter() {
  const waiting = new Map<number, Waiting>()
  let thread: Worker | undefined
  let lastId = 0

  const count: CountTokens = async (texts, limit, { userId, signal }) => {
    signal.throwIfAborted()
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<number[]>()
    const stop = () => {
      thread?.postMessage({ cancelled: id } satisfies CountCancelled)
      reject(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
    waiting.set(id, { resolve, reject })
    const to = (thread ??= start())
    to.ref()
    to.postMessage({ id, userId, texts, limit } satisfies CountJob)
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', stop)
      waiting.delete(id)
      if (waiting.size === 0) thread?.unref()
    }
  }

  function start(): Worker {
    const started = new Worker(new URL('./thread.ts', import.meta.url), { name: 'tokens', execArgv: [], env: {} })
    started.on('message', ({ id, counts }: CountAnswer) => waiting.get(id)?.resolve(counts))
    started.on('error', (error) => fail(started, error))
    started.on('exit', () => fail(started, new Error('the counting thread has ended')))
    return started
  }

  function fail(ended: Worker, error: unknown): void {
    if (thread !== ended) return
    thread = undefined
    for (const { reject } of waiting.values()) reject(error)
  }

  return {
    count: rememberCounts(count),
    async close(): Promise<void> {
      await thread?.terminate()
    },
  }
}

/** About 3 MB. */
const maxRemembered = 20_000

/**
 * Counts each text once: a conversation that nears the model's window is counted with every turn, and only its newest
 * messages are new. Counts are kept by the SHA-256 of their text; those that were not needed for longest are dropped.
 */
export function rememberCounts(count: CountTokens): CountTokens {
  const counts = new LRUCache<string, number>({ max: maxRemembered })

  return async (texts, limit, turn) => {
    turn.signal.throwIfAborted()
    const keys = texts.map((text) => hash('sha256', text, 'base64'))
    const result: number[] = []
    let left = limit
    while (result.length < texts.length && left >= 0) {
      const start = result.length
      const known = counts.get(keys[start] ?? '')
      if (known !== undefined) {
        result.push(known)
        left -= known
        continue
      }
      let end = start + 1
      while (end < texts.length && !counts.has(keys[end] ?? '')) end++
      for (const tokens of await count(texts.slice(start, end), left, turn)) {
        left -= tokens
        // Where the limit is exceeded, a text was counted only in part.
        if (left >= 0) counts.set(keys[result.length] ?? '', tokens)
        result.push(tokens)
      }
    }
    return result
  }
}
