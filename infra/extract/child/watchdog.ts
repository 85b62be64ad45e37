import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'

/**
 * A thread beside the parser: a parser that is busy cannot watch itself. Ends the whole process when
 * it grows past its limit. Standard error then holds the one word that the parent looks for.
 */
const data: unknown = workerData
const limitBytes = typeof data === 'object' && data !== null && 'limitBytes' in data ? Number(data.limitBytes) : 0

setInterval(() => {
  if (process.memoryUsage.rss() <= limitBytes) return
  writeSync(2, 'OUT_OF_MEMORY\n')
  process.kill(process.pid, 'SIGKILL')
}, 25)
