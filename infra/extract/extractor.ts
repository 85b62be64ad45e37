import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Chunk, defaultChunkerOptions } from '../../domain/chunking/chunker.ts'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import type { ExtractionJob, ExtractionLine } from './messages.ts'

export interface ExtractorOptions {
  /** Resident memory that reading one file may take. */
  memoryMb: number
  /** Time for a file of up to a megabyte; larger ones get a second more for each megabyte. */
  timeoutSeconds: number
  /** Files read at the same moment. */
  concurrency: number
  maxTokens?: number
  overlapTokens?: number
}

export interface Extractor {
  /**
   * The chunks of a file, in order, as they are read: nothing is held but what the caller has not yet
   * taken. Throws `UnreadableFile`, and the signal's reason when aborted. `onWaiting` is called while
   * other files are read first.
   */
  extract(path: string, name: string, signal?: AbortSignal): AsyncGenerator<Chunk, { contentType: string }>
  close(): Promise<void>
}

const childPath = fileURLToPath(new URL('./child/main.ts', import.meta.url))

/**
 * Reads each file in a process of its own, with a limit on memory and time: a file made to harm hurts
 * only itself, and nothing of one owner's file is left when the next owner's is read. One process is
 * kept started and waiting, so that a file does not wait for it.
 */
export function createExtractor(options: ExtractorOptions): Extractor {
  const gate = createGate(options.concurrency)
  let spare: ChildProcess | undefined
  let isClosed = false
  const running = new Set<ChildProcess>()

  function start(): ChildProcess {
    const child = fork(childPath, [String(options.memoryMb)], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [
        `--max-old-space-size=${options.memoryMb}`,
        '--stack-size=2000',
        '--disable-warning=ExperimentalWarning',
      ],
      // Parsers of foreign files see nothing of the service's settings.
      env: { PATH: process.env['PATH'] },
    })
    running.add(child)
    child.once('exit', () => {
      running.delete(child)
      if (spare === child) spare = undefined
    })
    child.once('error', () => running.delete(child))
    return child
  }

  /** The next spare starts while this one works. */
  function takeChild(): ChildProcess {
    const child = spare ?? start()
    spare = isClosed ? undefined : start()
    spare?.unref()
    spare?.channel?.unref()
    child.ref()
    child.channel?.ref()
    return child
  }

  async function* extract(
    path: string,
    name: string,
    signal?: AbortSignal,
  ): AsyncGenerator<Chunk, { contentType: string }> {
    const release = await gate(signal)
    const child = takeChild()
    try {
      const { size } = await stat(path)
      const timeoutMs = (options.timeoutSeconds + size / (1024 * 1024)) * 1000
      const job: ExtractionJob = { path, name, ...defaultChunkerOptions, ...chunkerOptions(options) }
      return yield* readChild(child, job, timeoutMs, signal)
    } finally {
      child.kill('SIGKILL')
      release()
    }
  }

  return {
    extract,
    close: async () => {
      isClosed = true
      const ended = [...running].map((child) => once(child, 'exit'))
      for (const child of running) {
        child.ref()
        child.kill('SIGKILL')
      }
      await Promise.all(ended)
    },
  }
}

function chunkerOptions({ maxTokens, overlapTokens }: ExtractorOptions) {
  return {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(overlapTokens === undefined ? {} : { overlapTokens }),
  }
}

async function* readChild(
  child: ChildProcess,
  job: ExtractionJob,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Chunk, { contentType: string }> {
  let isTimedOut = false
  let errors = ''
  const timer = setTimeout(() => {
    isTimedOut = true
    child.kill('SIGKILL')
  }, timeoutMs)
  const abort = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', abort, { once: true })
  child.stderr?.on('data', (data: Buffer) => {
    if (errors.length < 4096) errors += data.toString('utf8')
  })
  const exited = once(child, 'exit')
  try {
    if (!child.stdout) throw new Error('the extraction process has no standard output')
    child.send(job, () => undefined)
    for await (const text of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
      const line = parseLine(text)
      if ('chunk' in line) yield line.chunk
      else if ('end' in line) return line.end
      else throw new UnreadableFile(line.failed.reason, line.failed.message)
    }
    await exited
    signal?.throwIfAborted()
    throw whyItDied(isTimedOut, errors, job)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** Our own code wrote the line, in the process of the same checkout. */
function parseLine(text: string): ExtractionLine {
  const line: ExtractionLine = JSON.parse(text) as ExtractionLine
  return line
}

function whyItDied(isTimedOut: boolean, errors: string, job: ExtractionJob): UnreadableFile {
  if (isTimedOut) return new UnreadableFile('timed_out', 'Reading this file took too long.')
  if (errors.includes('OUT_OF_MEMORY') || /heap out of memory|Allocation failed/i.test(errors)) {
    return new UnreadableFile('out_of_memory', 'Reading this file takes more memory than is allowed.')
  }
  return new UnreadableFile('crashed', `Reading this file failed: its content brought the reader down.`, {
    cause: { name: job.name, errors: errors.slice(0, 1000) },
  })
}

/** Lets `places` callers through at a time, in the order in which they came. */
function createGate(places: number) {
  let free = places
  const waiting: (() => void)[] = []

  return async (signal?: AbortSignal): Promise<() => void> => {
    signal?.throwIfAborted()
    if (free > 0) free--
    else {
      await new Promise<void>((resolve, reject) => {
        const enter = () => {
          signal?.removeEventListener('abort', leave)
          resolve()
        }
        const leave = () => {
          waiting.splice(waiting.indexOf(enter), 1)
          reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
        }
        waiting.push(enter)
        signal?.addEventListener('abort', leave, { once: true })
      })
    }
    return () => {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
