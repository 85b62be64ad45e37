import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { CheckForeignArguments } from '../../services/tools/check-arguments.ts'
import type { CheckAnswer, CheckJob } from './messages.ts'

/** Far more than any schema needs that is meant well. */
const defaultLimitMs = 1000
const maxArgumentBytes = 256 * 1024
const maxRefused = 1000

interface Waiting extends CheckJob {
  key: string
  resolve(problem: string | undefined): void
}

/**
 * Checks arguments against schemas that are not ours, in a thread that is ended when a check takes too
 * long or too much memory: a few lines of schema can take exponential time. Such a schema is not
 * tried again. One check at a time, and users take turns, so that nobody is ended along with another.
 */
export function createSchemaChecker({ limitMs = defaultLimitMs } = {}) {
  const queues = new Map<string, Waiting[]>()
  const refused = new Set<string>()
  let thread: Worker | undefined
  let isReady = false
  let current: Waiting | undefined
  let timer: NodeJS.Timeout | undefined

  const check: CheckForeignArguments = async (schema, args, { userId, signal }) => {
    signal.throwIfAborted()
    const schemaJson = JSON.stringify(schema)
    const argsJson = JSON.stringify(args)
    const key = createHash('sha256').update(schemaJson).digest('base64')
    if (refused.has(key) || Buffer.byteLength(argsJson) > maxArgumentBytes) return undefined
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
    const job: Waiting = { key, schemaJson, argsJson, resolve }
    const stop = () => {
      const rest = (queues.get(userId) ?? []).filter((waiting) => waiting !== job)
      if (rest.length > 0) queues.set(userId, rest)
      else queues.delete(userId)
      reject(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
    queues.set(userId, [...(queues.get(userId) ?? []), job])
    advance()
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /** Gives the thread its next job. */
  function advance(): void {
    if (current !== undefined) return
    if (queues.size === 0) {
      thread?.unref()
      return
    }
    thread ??= start()
    thread.ref()
    if (!isReady) return
    current = nextJob()
    if (current === undefined) return
    if (refused.has(current.key)) return finish(undefined)
    const { schemaJson, argsJson } = current
    timer = setTimeout(giveUp, limitMs)
    thread.postMessage({ schemaJson, argsJson } satisfies CheckJob)
  }

  function nextJob(): Waiting | undefined {
    for (const [userId, queue] of queues) {
      const [job, ...rest] = queue
      queues.delete(userId)
      if (rest.length > 0) queues.set(userId, rest)
      if (job !== undefined) return job
    }
    return undefined
  }

  function finish(problem: string | undefined): void {
    clearTimeout(timer)
    current?.resolve(problem)
    current = undefined
    advance()
  }

  /** The schema of the current job has used up its time or memory. */
  function giveUp(): void {
    const ended = thread
    // A thread that does not even start would be started again for ever.
    if (!isReady) answerAll()
    thread = undefined
    isReady = false
    if (current !== undefined) refused.add(current.key)
    for (const oldest of refused) if (refused.size > maxRefused) refused.delete(oldest)
    ended?.terminate().catch(() => undefined)
    finish(undefined)
  }

  /** What could not be checked counts as right: the server judges it. */
  function answerAll(): void {
    for (const job of [...queues.values()].flat()) job.resolve(undefined)
    queues.clear()
  }

  function start(): Worker {
    const started = new Worker(new URL('./thread.ts', import.meta.url), {
      name: 'schema checks',
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
    })
    started.on('message', (answer: CheckAnswer) => {
      if (thread !== started) return
      if (answer !== 'ready') return finish(answer.problem)
      isReady = true
      advance()
    })
    const ended = () => {
      if (thread === started) giveUp()
    }
    started.on('error', ended)
    started.on('exit', ended)
    return started
  }

  return {
    check,
    async close(): Promise<void> {
      const ended = thread
      thread = undefined
      isReady = false
      clearTimeout(timer)
      answerAll()
      current?.resolve(undefined)
      current = undefined
      await ended?.terminate()
    },
  }
}
