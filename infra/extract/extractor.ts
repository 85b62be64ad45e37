import { readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { addAll } from '../../domain/add-all.ts'
import { defaultChunkerOptions } from '../../domain/chunking/chunker-options.ts'
import type { Chunk } from '../../domain/chunking/chunker.ts'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import type {
  Extraction,
  FileRead,
  FileToRead,
  PageFacts,
  PageRead,
  PageReader,
} from '../../services/knowledge/extraction.ts'
import { type Confinement, describeConfinement, findConfinement, folderPrefix } from './confinement.ts'
import { type ExtractionJob, linksInLine } from './messages.ts'
import type { Ocr } from './ocr/scan.ts'
import { type ReaderProcess, type ReadingLimits, startReader } from './reader-process.ts'

interface ExtractorOptions {
  /** Maximum resident memory for reading one file. */
  memoryMb: number
  /** Processor time for each megabyte of a file; smaller files get at least a third of it. */
  cpuSeconds?: number | undefined
  /** Time for a file of up to a megabyte; larger ones get one more second for each megabyte. */
  timeoutSeconds?: number | undefined
  /** Number of processes that wait for the next file of their owner. */
  idleReaders: number
  /** How pages are read that are pictures; undefined: they are not. */
  ocr?: Ocr | undefined
  /** Whether hidden sheets, rows, columns and slides are read. Default: yes. */
  readsHidden?: boolean
  /** Called once, before the first file is read, with the confinement of readers. */
  onConfinement?: (description: string) => void
  maxTokens?: number
  overlapTokens?: number
}

export interface Extractor extends Extraction, PageReader {
  close(): Promise<void>
}

interface IdleReader {
  owner: string
  reader: ReaderProcess
  timer: NodeJS.Timeout | undefined
}

/** A file that was made to be slow gives its place back after this. */
const defaultCpuSeconds = 30
/** A crawl reads many pages: none may take as long as a large file. */
const pageCpuSeconds = 10
/** For each page that is a picture. The recognizer itself ends a page after 30 s, between two steps of its work. */
const scanCpuSeconds = 45
/** Ten times as long: the processors may be taken by others. */
const defaultTimeoutSeconds = 300
/** How long a reader waits for the next file of the same owner: a warm reader is three times as fast. */
const keepMs = 30_000

/**
 * Reads files in separate, confined processes with limits on memory, processor time and time. A malicious file can
 * harm only its reader, and a process that has read one owner's files never reads another's. One spare process is
 * kept ready, so that a file does not wait for the start. Nothing is started before the first file.
 */
export function createExtractor(options: ExtractorOptions): Extractor {
  const processes = new Set<ReaderProcess>()
  const idle: IdleReader[] = []
  let confinement: Promise<Confinement> | undefined
  let spare: Promise<ReaderProcess> | undefined
  let isClosed = false

  async function prepare(): Promise<Confinement> {
    const [found] = await Promise.all([findConfinement(), removeOldFolders()])
    options.onConfinement?.(describeConfinement(found))
    return found
  }

  async function start(): Promise<ReaderProcess> {
    confinement ??= prepare()
    confinement.catch(() => {
      confinement = undefined
    })
    const reader = await startReader(await confinement, options.memoryMb)
    processes.add(reader)
    void reader.gone.then(() => processes.delete(reader))
    if (isClosed) await reader.kill()
    return reader
  }

  async function take(owner: string): Promise<ReaderProcess> {
    const known = idle.find((entry) => entry.owner === owner && !entry.reader.isGone)
    if (known) {
      forget(known)
      return known.reader
    }
    const waiting = spare ?? start()
    // The next spare starts while this one works.
    spare = isClosed ? undefined : start()
    spare?.catch(() => {
      spare = undefined
    })
    const reader = await waiting
    return reader.isGone ? start() : reader
  }

  function keep(owner: string, reader: ReaderProcess): void {
    const entry: IdleReader = { owner, reader, timer: undefined }
    entry.timer = setTimeout(() => {
      forget(entry)
      void reader.kill()
    }, keepMs)
    entry.timer.unref()
    idle.push(entry)
    const oldest = idle.length > options.idleReaders ? idle[0] : undefined
    if (oldest) {
      forget(oldest)
      void oldest.reader.kill()
    }
  }

  function forget(entry: IdleReader): void {
    clearTimeout(entry.timer)
    idle.splice(idle.indexOf(entry), 1)
  }

  return {
    async *extract(file: FileToRead, signal?: AbortSignal): AsyncGenerator<Chunk, FileRead> {
      let given = 0
      let reader = await take(file.owner)
      for (;;) {
        let isReusable = false
        const output = chunksOf(readFile(reader, file, options, signal))
        try {
          // A second reader gives the same chunks again.
          for (let index = 0; ; index++) {
            const next = await output.next()
            if (next.done) {
              isReusable = !(await reader.isHeavy())
              return next.value
            }
            if (index < given) continue
            given++
            yield next.value
          }
        } catch (error) {
          if (!isOfFilesBefore(error, reader) || isClosed) throw error
        } finally {
          await output.return({ contentType: '' }).catch(() => undefined)
          if (isReusable && !isClosed) keep(file.owner, reader)
          else void reader.kill()
        }
        reader = await start()
      }
    },

    async readPage({ url, body, charset, owner, maxLinks }, signal) {
      let reader = await take(owner)
      for (;;) {
        let isReusable = false
        try {
          const file = { name: '', owner, size: body.length, content: () => Readable.from(inSlices(body)) }
          const output = readWebPage(reader, { ...file, page: { url, maxLinks, charset } }, options, signal)
          const read = await pageOf(output, maxLinks)
          isReusable = !(await reader.isHeavy())
          return read
        } catch (error) {
          if (!isOfFilesBefore(error, reader) || isClosed) throw error
        } finally {
          if (isReusable && !isClosed) keep(owner, reader)
          else void reader.kill()
        }
        reader = await start()
      }
    },

    async close() {
      isClosed = true
      for (const { timer } of idle) clearTimeout(timer)
      await spare?.catch(() => undefined)
      await Promise.all([...processes].map((reader) => reader.kill()))
    },
  }
}

/** What the files before have left in memory is not the fault of this one. */
const isOfFilesBefore = (error: unknown, { files }: ReaderProcess): boolean =>
  error instanceof UnreadableFile && error.reason === 'out_of_memory' && files > 0

type Output = ReturnType<ReaderProcess['read']>

function readFile(reader: ReaderProcess, file: FileToRead, options: ExtractorOptions, signal?: AbortSignal): Output {
  return reader.read(file.content, jobOf(file, options), limitsOf(file, options), signal, file.scans)
}

function readWebPage(
  reader: ReaderProcess,
  { page, ...file }: FileToRead & { page: NonNullable<ExtractionJob['page']> },
  options: ExtractorOptions,
  signal?: AbortSignal,
): Output {
  const job = { ...jobOf(file, options), ocr: undefined, page }
  return reader.read(file.content, job, { ...limitsOf(file, options), cpuSeconds: pageCpuSeconds }, signal)
}

async function* chunksOf(output: Output): AsyncGenerator<Chunk, FileRead> {
  try {
    for (;;) {
      const next = await output.next()
      if (next.done) return next.value
      if (!('chunk' in next.value)) throw invalidOutput()
      yield next.value.chunk
    }
  } finally {
    await output.return({ contentType: '' })
  }
}

async function pageOf(output: Output, maxLinks: number): Promise<PageRead> {
  const links: string[] = []
  const html: string[] = []
  let facts: PageFacts | undefined
  let characters = 0
  for await (const line of output) {
    if ('links' in line) addAll(links, line.links)
    else if ('html' in line) html.push(line.html)
    else if ('page' in line) facts = line.page
    characters += 'html' in line ? line.html.length : 0
    if ('chunk' in line || links.length > maxLinks + linksInLine || characters > maxHtmlCharacters)
      throw invalidOutput()
  }
  if (facts === undefined) throw invalidOutput()
  return { ...facts, links: links.slice(0, maxLinks), html: html.join('') }
}

const invalidOutput = () => new UnreadableFile('damaged', 'This file is damaged and cannot be read.')
/** More than the largest page has. */
const maxHtmlCharacters = 32 * 1024 * 1024

function* inSlices(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += 256 * 1024) yield body.subarray(at, at + 256 * 1024)
}

function jobOf(
  { name, chunking, scans }: FileToRead,
  { maxTokens, overlapTokens, ocr, readsHidden = true }: ExtractorOptions,
) {
  return {
    name,
    ocr: ocr && { ...ocr, seconds: scans?.seconds, isDayLimit: scans?.isDayLimit },
    readsHidden,
    maxTokens: chunking?.maxTokens ?? maxTokens ?? defaultChunkerOptions.maxTokens,
    overlapTokens: chunking?.overlapTokens ?? overlapTokens ?? defaultChunkerOptions.overlapTokens,
  }
}

function limitsOf(
  { size, scans }: FileToRead,
  { memoryMb, ocr, cpuSeconds = defaultCpuSeconds, timeoutSeconds = defaultTimeoutSeconds }: ExtractorOptions,
): ReadingLimits {
  const megabytes = size / (1024 * 1024)
  return {
    memoryMb,
    cpuSeconds: cpuSeconds * Math.max(1 / 3, megabytes),
    timeoutMs: (timeoutSeconds + megabytes) * 1000,
    forEachScan: {
      cpuSeconds: scanCpuSeconds,
      timeoutMs: 10_000 * scanCpuSeconds,
      maxPages: ocr?.maxPages ?? 0,
      maxCpuSeconds: (scans?.seconds ?? Infinity) + scanCpuSeconds,
    },
  }
}

const dayMs = 24 * 3_600_000

/** Removes copies of users' files that killed workers left. */
async function removeOldFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(folderPrefix)) continue
    const path = join(tmpdir(), name)
    const found = await stat(path).catch(() => undefined)
    if (found && found.mtimeMs < Date.now() - dayMs)
      await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}
