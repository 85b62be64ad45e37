import { once } from 'node:events'
import { createChunker } from '../../../domain/chunking/chunker.ts'
import { parseOwnJson } from '../../../domain/json.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { linesOf } from '../../lines.ts'
import { extractBlocks } from '../extract-blocks.ts'
import { type ExtractionJob, type ExtractionLine, htmlPieceCharacters, jobFile, linksInLine } from '../messages.ts'
import { createScanReader } from '../ocr/scan.ts'

/** The process that parses untrusted files; `confinement.ts` lists what it cannot do. */
const flushCharacters = 64 * 1024
let buffer = ''

async function write(line: ExtractionLine): Promise<void> {
  buffer += `${JSON.stringify(line)}\n`
  if (buffer.length >= flushCharacters) await flush()
}

/** Waits while the parent is slow, so that this process never holds a whole large file. */
async function flush(): Promise<void> {
  const text = buffer
  buffer = ''
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain')
}

async function run(job: ExtractionJob): Promise<void> {
  if (job.page !== undefined) return readPage(job.page)
  const chunker = createChunker({ maxTokens: job.maxTokens, overlapTokens: job.overlapTokens })
  const beforePage = async () => {
    await write({ scanning: true })
    // The parent allows time for the page from now on.
    await flush()
  }
  const scans = job.ocr && createScanReader(job.ocr, beforePage)
  const blocks = extractBlocks(jobFile, job.name, { scans, readsHidden: job.readsHidden })
  for (;;) {
    const next = await blocks.next()
    const chunks = next.done ? chunker.flush() : chunker.push(next.value)
    for (const chunk of chunks) await write({ chunk })
    if (next.done) return write({ end: next.value })
  }
}

async function readPage(page: NonNullable<ExtractionJob['page']>): Promise<void> {
  const { readWebPage } = await import('../formats/web-page.ts')
  const { facts, links, html } = await readWebPage(jobFile, page)
  for (let at = 0; at < links.length; at += linksInLine) await write({ links: links.slice(at, at + linksInLine) })
  for (let at = 0; at < html.length; at += htmlPieceCharacters)
    await write({ html: html.slice(at, at + htmlPieceCharacters) })
  await write({ page: facts })
  return write({ end: { contentType: 'text/html' } })
}

function failure(error: unknown): ExtractionLine {
  if (error instanceof UnreadableFile) return { failed: { reason: error.reason, message: error.message } }
  if (error instanceof RangeError) {
    return { failed: { reason: 'too_large', message: 'This file is nested too deeply or is too large to be read.' } }
  }
  return { failed: { reason: 'damaged', message: 'This file is damaged and cannot be read.' } }
}

// Ends with the parent, because the parent's end of the pipe is closed then.
for await (const line of linesOf(process.stdin)) {
  const job = parseOwnJson<ExtractionJob>(line)
  await run(job).catch((error: unknown) => write(failure(error)))
  await flush()
}
