import { once } from 'node:events'
import { enableCompileCache } from 'node:module'
import { Worker } from 'node:worker_threads'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import type { ExtractionJob, ExtractionLine } from '../messages.ts'

// Before anything large is loaded: it halves the time that this process takes to start.
enableCompileCache()
const { createChunker } = await import('../../../domain/chunking/chunker.ts')
const { extractBlocks } = await import('../extract-blocks.ts')

/** The process in which foreign files meet their parsers. */
const memoryMb = Number(process.argv[2])
const watchdog = new Worker(new URL('./watchdog.ts', import.meta.url), {
  workerData: { limitBytes: memoryMb * 1024 * 1024 },
})
watchdog.unref()

const flushCharacters = 64 * 1024
let buffer = ''

async function write(line: ExtractionLine): Promise<void> {
  buffer += `${JSON.stringify(line)}\n`
  if (buffer.length >= flushCharacters) await flush()
}

/** Waits when the reader is slow, so that a large file is never held here as a whole. */
async function flush(): Promise<void> {
  const text = buffer
  buffer = ''
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain')
}

async function run(job: ExtractionJob): Promise<void> {
  const chunker = createChunker({ maxTokens: job.maxTokens, overlapTokens: job.overlapTokens })
  const blocks = extractBlocks(job.path, job.name)
  for (;;) {
    const next = await blocks.next()
    const chunks = next.done ? chunker.flush() : chunker.push(next.value)
    for (const chunk of chunks) await write({ chunk })
    if (next.done) return write({ end: next.value })
  }
}

function failure(error: unknown): ExtractionLine {
  if (error instanceof UnreadableFile) return { failed: { reason: error.reason, message: error.message } }
  if (error instanceof RangeError) {
    return { failed: { reason: 'too_large', message: 'This file is nested too deeply or is too large to be read.' } }
  }
  return { failed: { reason: 'damaged', message: 'This file is damaged and cannot be read.' } }
}

let working = Promise.resolve()
process.on('message', (job: ExtractionJob) => {
  working = working
    .then(() => run(job))
    .catch((error: unknown) => write(failure(error)))
    .then(flush)
    .catch(() => process.exit(1))
})
process.once('disconnect', () => process.exit(1))
