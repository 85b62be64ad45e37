import { createHash } from 'node:crypto'
import type { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { Semaphore } from '../../services/semaphore.ts'
import type { CheckForeignArguments } from '../../services/tools/check-arguments.ts'
import { startThread } from '../threads/start-thread.ts'
import type { CheckAnswer, CheckJob } from './messages.ts'

/** Limits far above what any ordinary schema needs. */
const defaultLimitMs = 1000
const maxArgumentBytes = 256 * 1024
const maxRefused = 1000

/**
 * Checks arguments against untrusted schemas, in a thread that is terminated when a check takes too long or too
 * much memory, because a few lines of schema can take exponential time. Such a schema is not used again. Arguments
 * that could not be checked count as valid: the tool's server checks them itself. `turns` has one slot, so that a
 * check is never terminated together with another user's.
 */
export function createSchemaChecker(turns: Pick<Semaphore, 'acquire'>, { limitMs = defaultLimitMs } = {}) {
  const refused = new LRUCache<string, true>({ max: maxRefused })
  /** Undefined once the thread has ended before it was ready. */
  let thread: Promise<Worker | undefined> | undefined
  let isClosed = false

  const check: CheckForeignArguments = async (schema, args, { userId, signal }) => {
    signal.throwIfAborted()
    const job = { schemaJson: JSON.stringify(schema), argsJson: JSON.stringify(args) }
    const key = createHash('sha256').update(job.schemaJson).digest('base64')
    if (refused.has(key) || Buffer.byteLength(job.argsJson) > maxArgumentBytes) return undefined
    const release = await turns.acquire(userId, signal)
    try {
      if (release === undefined || isClosed || refused.has(key)) return undefined
      const answer = await run(job)
      signal.throwIfAborted()
      if (answer === undefined) refused.set(key, true)
      return answer?.problem
    } finally {
      release?.()
    }
  }

  /** Undefined if the thread ended, or was terminated by the time limit. */
  async function run(job: CheckJob): Promise<{ problem: string | undefined } | undefined> {
    const worker = await (thread ??= start())
    const answer = worker && (await answerOf(worker, job))
    if (answer === undefined) {
      thread = undefined
      await worker?.terminate()
    }
    return answer
  }

  function answerOf(worker: Worker, job: CheckJob): Promise<{ problem: string | undefined } | undefined> {
    return new Promise((resolve) => {
      const end = (answer?: CheckAnswer) => {
        clearTimeout(timer)
        worker.off('message', end).off('exit', onExit)
        worker.unref()
        resolve(answer === 'ready' ? undefined : answer)
      }
      const onExit = () => end()
      const timer = setTimeout(end, limitMs)
      worker.on('message', end).on('exit', onExit)
      worker.ref()
      worker.postMessage(job)
    })
  }

  return {
    check,
    async close(): Promise<void> {
      isClosed = true
      const worker = await thread
      await worker?.terminate()
    },
  }
}

/** Fulfilled when the thread accepts jobs. Its start does not count as time of the first check. */
function start(): Promise<Worker | undefined> {
  const worker = startThread(new URL('./thread.ts', import.meta.url), { name: 'schema checks', memoryMb: 128 })
  return new Promise((resolve) => {
    worker.once('message', () => resolve(worker))
    worker.once('exit', () => resolve(undefined))
  })
}
