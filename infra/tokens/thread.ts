import { parentPort } from 'node:worker_threads'
import { setMergeCacheSize } from 'gpt-tokenizer/encoding/cl100k_base'
import { tokensOfWindows } from '../../domain/chunking/count-tokens.ts'
import type { CountAnswer, CountCancelled, CountJob } from './messages.ts'

/** How long one job is worked on before the next one gets its turn. */
const turnMs = 10

interface OpenJob extends CountJob {
  counts: number[]
  left: number
  windows: Iterator<number>
}

/** Users take turns; the jobs of one user wait for each other. */
const queues = new Map<string, OpenJob[]>()
let isTurnDue = false

// Words of foreign texts rarely recur: a large cache would only use memory.
setMergeCacheSize(5000)

parentPort?.on('message', (message: CountJob | CountCancelled) => {
  if ('cancelled' in message) drop(message.cancelled)
  else enqueue(message)
})

function enqueue(job: CountJob): void {
  const queue = queues.get(job.userId) ?? []
  queue.push({ ...job, counts: [0], left: job.limit, windows: tokensOfWindows(job.texts[0] ?? '') })
  queues.set(job.userId, queue)
  dueTurn()
}

function drop(id: number): void {
  for (const [userId, queue] of queues) {
    const rest = queue.filter((job) => job.id !== id)
    if (rest.length > 0) queues.set(userId, rest)
    else queues.delete(userId)
  }
}

/** New messages arrive between two turns. */
function dueTurn(): void {
  if (isTurnDue || queues.size === 0) return
  isTurnDue = true
  setImmediate(takeTurn)
}

function takeTurn(): void {
  isTurnDue = false
  for (const [userId, queue] of queues) {
    const [job] = queue
    if (job !== undefined && work(job)) {
      parentPort?.postMessage({ id: job.id, counts: job.counts } satisfies CountAnswer)
      queue.shift()
    }
    queues.delete(userId)
    if (queue.length > 0) queues.set(userId, queue)
    break
  }
  dueTurn()
}

/** Whether the job is done: all is counted, or the limit is exceeded. */
function work(job: OpenJob): boolean {
  const end = performance.now() + turnMs
  while (performance.now() < end) {
    const next = job.windows.next()
    if (next.done) {
      if (job.counts.length >= job.texts.length) return true
      job.windows = tokensOfWindows(job.texts[job.counts.length] ?? '')
      job.counts.push(0)
      continue
    }
    job.counts.push((job.counts.pop() ?? 0) + next.value)
    job.left -= next.value
    if (job.left < 0) return true
  }
  return false
}
