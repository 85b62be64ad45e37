// Before a change: docs/traps.md, Libraries.
import type { ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { ScansBusy } from '../../domain/knowledge/scan.ts'
import { UnreadableFile, type UnreadableReason } from '../../domain/knowledge/unreadable-file.ts'
import type { FileRead, Scans } from '../../services/knowledge/extraction.ts'
import { linesOf } from '../lines.ts'
import { type Confinement, makeReadable } from './confinement.ts'
import { type ExtractionJob, type ExtractionLine, jobFile, maxLineCharacters, parseLine } from './messages.ts'
import { usageOf, watchProcess } from './process-usage.ts'
import { startConfined } from './start-confined.ts'

const script = fileURLToPath(new URL('./child/main.ts', import.meta.url))

export interface ReadingLimits {
  memoryMb: number
  cpuSeconds: number
  timeoutMs: number
  /** How much longer each page may take that is a picture. */
  forEachScan: { cpuSeconds: number; timeoutMs: number; maxPages: number; maxCpuSeconds: number }
}

/** What a reader says of a file before its end. */
type ReaderOutput = Exclude<ExtractionLine, { scanning: true } | { end: FileRead } | { failed: object }>

export type ReaderProcess = Awaited<ReturnType<typeof startReader>>

/** Starts a process that reads files, one after the other. It does not keep the worker alive while it waits. */
export async function startReader(confinement: Confinement, memoryMb: number) {
  const started = await startConfined(script, [], { confinement, memoryMb })
  const { child, userId, folder, stdin, stdout, stderr, errors, gone } = started
  const path = join(folder, jobFile)
  const lines = linesOf(stdout, { maxCharacters: maxLineCharacters })
  const { rest, work } = keepsAlive(child, [stdin, stdout, stderr])
  rest()
  let files = 0

  return {
    /** How many files it has read to their end. */
    get files() {
      return files
    },
    /**
     * Whether it has taken more than half of the memory that it may have: memory of WebAssembly is never given back, so
     * that the next file would have less than others.
     */
    async isHeavy(): Promise<boolean> {
      const usage = await usageOf(child.pid ?? 0).catch(() => undefined)
      return usage === undefined || usage.residentBytes > (memoryMb / 2) * 1024 * 1024
    },
    /**
     * Copies a file to a place where only the reader can read it, and has it read. Throws `UnreadableFile`, the
     * content's error, and the signal's reason when aborted; after any of them the process cannot be used again.
     */
    async *read(
      content: () => Readable,
      job: ExtractionJob,
      limits: ReadingLimits,
      signal: AbortSignal | undefined,
      scans?: Scans,
    ): AsyncGenerator<ReaderOutput, FileRead> {
      signal?.throwIfAborted()
      try {
        await pipeline(content(), createWriteStream(path, { mode: 0o400, flags: 'wx' }), signal ? { signal } : {})
      } catch (error) {
        signal?.throwIfAborted()
        throw error
      }
      await makeReadable(path, 0o440, userId)
      work()
      const watch = killBeyond(limits, child, signal)
      let scanning: number | undefined
      const noteScan = () => {
        if (scanning !== undefined) scans?.used(watch.cpuSeconds() - scanning)
        scanning = watch.cpuSeconds()
      }
      try {
        stdin.write(`${JSON.stringify(job)}\n`)
        for (;;) {
          const next = await lines.next().catch(() => ended)
          if (next.done) break
          const line = parseLine(next.value)
          if (line === undefined) break
          if ('scanning' in line) {
            if (scanning === undefined && scans?.begin() === false) throw new ScansBusy()
            noteScan()
            watch.allowScan()
          } else if ('end' in line) {
            await rm(path, { force: true })
            files += 1
            rest()
            return line.end
          } else if ('failed' in line) throw new UnreadableFile(line.failed.reason, line.failed.message)
          else yield line
        }
        kill(child)
        await gone
        signal?.throwIfAborted()
        throw whyItDied(watch.verdict(), errors())
      } finally {
        if (scanning !== undefined) noteScan()
        watch.stop()
      }
    },

    get isGone() {
      return started.isGone()
    },
    gone,
    async kill(): Promise<void> {
      work()
      kill(child)
      await gone
    },
  }
}

function kill(child: ChildProcess): void {
  child.kill('SIGKILL')
}

/** Whether a reader keeps this process alive: only while it works. Its pipes are sockets, which do so as well. */
function keepsAlive(child: ChildProcess, pipes: (Readable | Writable)[]) {
  const handles = [child, ...pipes.filter((pipe) => pipe instanceof Socket)]
  return {
    rest(): void {
      for (const handle of handles) handle.unref()
    },
    work(): void {
      for (const handle of handles) handle.ref()
    },
  }
}

/**
 * Kills a reader that exceeds its limits, or whose caller aborts. `verdict`: the limit. `allowScan`: a page that is a
 * picture begins, which has time of its own; a reader that was taken over by its file cannot ask for more pages than
 * one file may have.
 */
function killBeyond(
  { timeoutMs, memoryMb, cpuSeconds, forEachScan }: ReadingLimits,
  child: ChildProcess,
  signal?: AbortSignal,
) {
  let verdict: UnreadableReason | undefined
  const stopFor = (reason: UnreadableReason) => {
    verdict ??= reason
    kill(child)
  }
  const abort = () => kill(child)
  let allowedMs = timeoutMs
  let allowedSeconds = cpuSeconds
  let scans = 0
  let scanSeconds = 0
  const begun = performance.now()
  const timesOut = () => setTimeout(() => stopFor('timed_out'), allowedMs - (performance.now() - begun))
  let timer = timesOut()
  let cpuAtStart: number | undefined
  let cpuUsed = 0
  const watch = watchProcess(child.pid ?? 0, ({ residentBytes, cpuSeconds: used }) => {
    cpuAtStart ??= used
    cpuUsed = used - cpuAtStart
    if (residentBytes > memoryMb * 1024 * 1024) stopFor('out_of_memory')
    if (cpuUsed > allowedSeconds) stopFor('too_slow')
  })
  signal?.addEventListener('abort', abort, { once: true })
  return {
    verdict: () => verdict,
    cpuSeconds: () => cpuUsed,
    allowScan(): void {
      if (scans >= forEachScan.maxPages || scanSeconds >= forEachScan.maxCpuSeconds) return
      scans += 1
      scanSeconds += forEachScan.cpuSeconds
      allowedSeconds += forEachScan.cpuSeconds
      allowedMs += forEachScan.timeoutMs
      clearTimeout(timer)
      timer = timesOut()
    },
    stop(): void {
      clearTimeout(timer)
      watch.stop()
      signal?.removeEventListener('abort', abort)
    },
  }
}

/** Treats an invalid line like the end of the output. */
const ended = { done: true, value: undefined } as const

const messages: Partial<Record<UnreadableReason, string>> = {
  timed_out: 'Reading this file took too long.',
  too_slow: 'Reading this file takes more processor time than is allowed for its size.',
  out_of_memory: 'Reading this file takes more memory than is allowed.',
}

function whyItDied(verdict: UnreadableReason | undefined, errors: string): UnreadableFile {
  const reason = verdict ?? (/heap out of memory|Allocation failed/i.test(errors) ? 'out_of_memory' : 'crashed')
  return new UnreadableFile(reason, messages[reason] ?? 'The process that read this file ended unexpectedly.', {
    cause: errors.slice(0, 1000),
  })
}
