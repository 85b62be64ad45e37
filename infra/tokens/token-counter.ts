import { Worker } from 'node:worker_threads'
import type { CountTokens } from '../../services/runs/chat-model.ts'
import type { CountAnswer, CountCancelled, CountJob } from './messages.ts'
import { rememberCounts } from './remembered-counts.ts'

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
