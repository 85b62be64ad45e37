import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Chunk } from '../../domain/chunking/chunker.ts'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { linesOf } from '../lines.ts'
import type { ExtractionJob, ExtractionLine } from './messages.ts'

const childPath = fileURLToPath(new URL('./child/main.ts', import.meta.url))

export type ReaderProcess = ReturnType<typeof startReader>

/** Starts a process that reads files, one after the other. It does not keep this process alive while it waits. */
export function startReader(memoryMb: number) {
  const child = fork(childPath, [String(memoryMb)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [`--max-old-space-size=${memoryMb}`, '--stack-size=2000', '--disable-warning=ExperimentalWarning'],
    // Parsers of foreign files see nothing of the service's settings.
    env: { PATH: process.env['PATH'] },
  })
  let errors = ''
  let isGone = false
  const gone = Promise.withResolvers<void>()
  const end = () => {
    isGone = true
    gone.resolve()
  }
  child.once('exit', end)
  child.once('error', end)
  child.stderr?.on('data', (data: Buffer) => {
    if (errors.length < 4096) errors += data.toString('utf8')
  })
  const lines = child.stdout ? linesOf(child.stdout) : undefined
  rest()

  function rest(): void {
    child.unref()
    child.channel?.unref()
  }

  /** Throws `UnreadableFile`, and the signal's reason when aborted; after either the process is of no more use. */
  async function* read(
    job: ExtractionJob,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Chunk, { contentType: string }> {
    signal?.throwIfAborted()
    child.ref()
    child.channel?.ref()
    let isTimedOut = false
    const kill = () => child.kill('SIGKILL')
    const timer = setTimeout(() => {
      isTimedOut = true
      kill()
    }, timeoutMs)
    signal?.addEventListener('abort', kill, { once: true })
    try {
      child.send(job, () => undefined)
      for (;;) {
        const next = await lines?.next()
        if (!next || next.done) break
        const line = parseLine(next.value)
        if ('chunk' in line) yield line.chunk
        else if ('end' in line) {
          rest()
          return line.end
        } else throw new UnreadableFile(line.failed.reason, line.failed.message)
      }
      await gone.promise
      signal?.throwIfAborted()
      throw whyItDied(isTimedOut, errors)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', kill)
    }
  }

  return {
    read,
    get isGone() {
      return isGone
    },
    gone: gone.promise,
    async kill(): Promise<void> {
      if (isGone) return
      child.ref()
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Our own code wrote the line, in a process of the same checkout. */
function parseLine(text: string): ExtractionLine {
  return JSON.parse(text) as ExtractionLine
}

function whyItDied(isTimedOut: boolean, errors: string): UnreadableFile {
  if (isTimedOut) return new UnreadableFile('timed_out', 'Reading this file took too long.')
  if (errors.includes('OUT_OF_MEMORY') || /heap out of memory|Allocation failed/i.test(errors)) {
    return new UnreadableFile('out_of_memory', 'Reading this file takes more memory than is allowed.')
  }
  return new UnreadableFile('crashed', 'Reading this file failed: its content brought the reader down.', {
    cause: errors.slice(0, 1000),
  })
}
