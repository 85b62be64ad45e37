import { stat } from 'node:fs/promises'
import { type Chunk, defaultChunkerOptions } from '../../domain/chunking/chunker.ts'
import type { ExtractionJob } from './messages.ts'
import { type ReaderProcess, startReader } from './reader-process.ts'

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

export interface ExtractOptions {
  signal?: AbortSignal
  /** Whose file it is. Files of one owner may be read by the same process, one after the other. */
  owner?: string
}

export interface Extractor {
  /**
   * The chunks of a file, in order, as they are read: nothing is held but what the caller has not yet
   * taken. Throws `UnreadableFile`, and the signal's reason when aborted.
   */
  extract(path: string, name: string, options?: ExtractOptions): AsyncGenerator<Chunk, { contentType: string }>
  close(): Promise<void>
}

interface KeptReader {
  owner: string
  reader: ReaderProcess
  timer: NodeJS.Timeout | undefined
}

/** How long a process that read a file waits for the next one of the same owner: warm, it reads three times as fast. */
const keepMs = 30_000

/**
 * Reads files in processes of their own, with a limit on memory and time: a file made to harm hurts
 * only itself, and a process that has read one owner's files never reads another's. One process is
 * kept started and waiting, so that a file does not wait for it.
 */
export function createExtractor(options: ExtractorOptions): Extractor {
  const gate = createGate(options.concurrency)
  const processes = new Set<ReaderProcess>()
  const kept: KeptReader[] = []
  let spare: ReaderProcess | undefined
  let isClosed = false

  function start(): ReaderProcess {
    const reader = startReader(options.memoryMb)
    processes.add(reader)
    void reader.gone.then(() => processes.delete(reader))
    return reader
  }

  function take(owner: string | undefined): ReaderProcess {
    const known = kept.find((entry) => entry.owner === owner && !entry.reader.isGone)
    if (known) {
      forget(known)
      return known.reader
    }
    const reader = spare && !spare.isGone ? spare : start()
    // The next spare starts while this one works.
    spare = isClosed ? undefined : start()
    return reader
  }

  function keep(owner: string, reader: ReaderProcess): void {
    const entry: KeptReader = { owner, reader, timer: undefined }
    entry.timer = setTimeout(() => {
      forget(entry)
      void reader.kill()
    }, keepMs)
    entry.timer.unref()
    kept.push(entry)
    const oldest = kept.length > options.concurrency ? kept[0] : undefined
    if (oldest) {
      forget(oldest)
      void oldest.reader.kill()
    }
  }

  function forget(entry: KeptReader): void {
    clearTimeout(entry.timer)
    kept.splice(kept.indexOf(entry), 1)
  }

  async function* extract(
    path: string,
    name: string,
    { signal, owner }: ExtractOptions = {},
  ): AsyncGenerator<Chunk, { contentType: string }> {
    const release = await gate(signal)
    const reader = take(owner)
    let isReusable = false
    try {
      const { size } = await stat(path)
      const timeoutMs = (options.timeoutSeconds + size / (1024 * 1024)) * 1000
      const result = yield* reader.read(jobOf(path, name, options), timeoutMs, signal)
      isReusable = true
      return result
    } finally {
      if (isReusable && owner !== undefined && !isClosed) keep(owner, reader)
      else void reader.kill()
      release()
    }
  }

  return {
    extract,
    close: async () => {
      isClosed = true
      for (const { timer } of kept) clearTimeout(timer)
      await Promise.all([...processes].map((reader) => reader.kill()))
    },
  }
}

function jobOf(path: string, name: string, { maxTokens, overlapTokens }: ExtractorOptions): ExtractionJob {
  return {
    path,
    name,
    maxTokens: maxTokens ?? defaultChunkerOptions.maxTokens,
    overlapTokens: overlapTokens ?? defaultChunkerOptions.overlapTokens,
  }
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
