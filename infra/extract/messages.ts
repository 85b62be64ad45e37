import { addAll } from '../../domain/add-all.ts'
import { maxCaptionCharacters, maxLabelCharacters, maxSheetCharacters } from '../../domain/chunking/block.ts'
import { maxChunkCharacters, maxChunkTokens } from '../../domain/chunking/chunker-options.ts'
import type { Chunk } from '../../domain/chunking/chunker.ts'
import type { PassageRows } from '../../domain/chunking/passage-rows.ts'
import type { PassagePage } from '../../domain/chunking/sentence-pages.ts'
import { parseForeignJson } from '../../domain/foreign-json.ts'
import type { Scan } from '../../domain/knowledge/scan.ts'
import { type UnreadableReason, unreadableReasons } from '../../domain/knowledge/unreadable-file.ts'
import type { FileRead, PageFacts } from '../../services/knowledge/extraction.ts'
import { type Ocr, maxListedPages } from './ocr/scan.ts'

/** Requests to a reader, on its standard input, one JSON text per line. The file is in the reader's folder. */
export interface ExtractionJob {
  name: string
  maxTokens: number
  overlapTokens: number
  /** Undefined: pictures are not read. */
  ocr?: Ocr | undefined
  /** Whether hidden sheets, rows, columns and slides are read. */
  readsHidden: boolean
  /** The file is a page of the web: its readable part and its links are wanted, no chunks. */
  page?: { url: string; maxLinks: number; charset?: string | undefined } | undefined
}

/** Name of the file in the reader's folder. */
export const jobFile = 'file'

/**
 * Answers of a reader on standard output, in the same form; `end` or `failed` is the last of a job. `scanning`: a page
 * that is a picture is about to be read, which takes time.
 */
export type ExtractionLine =
  | { chunk: Chunk }
  | { scanning: true }
  | { links: string[] }
  | { html: string }
  | { page: PageFacts }
  | { end: FileRead }
  | { failed: { reason: UnreadableReason; message: string } }

/** Longer than any valid line, of which a chunk is the largest part. */
export const maxLineCharacters = 1024 * 1024
/** Each character may take six in JSON. */
export const htmlPieceCharacters = 128 * 1024
export const linksInLine = 50
export const maxLinkCharacters = 2048

const maxHeadingCharacters = 4096
/** Each takes a token. */
const maxChunkSentences = maxChunkTokens
/** Of pages, each takes an object and a list, and each sentence a member; of sheets, an object and two lists. */
const lineLimits = {
  bytes: Infinity,
  depth: 5,
  containers: 10 + 5 * maxChunkSentences,
  members: 100 + 9 * maxChunkSentences,
}

/** Undefined for an invalid answer. A reader may have been taken over by its file. */
export function parseLine(text: string): ExtractionLine | undefined {
  const line = parseJson(text)
  if (!isObject(line)) return undefined
  if ('chunk' in line) return isChunk(line.chunk) ? { chunk: line.chunk } : undefined
  if ('scanning' in line) return { scanning: true }
  if ('links' in line) return areLinks(line.links) ? { links: line.links } : undefined
  if ('html' in line) return typeof line.html === 'string' ? { html: line.html } : undefined
  if ('page' in line) return isPage(line.page) ? { page: line.page } : undefined
  if ('end' in line) return isObject(line.end) ? endOf(line.end) : undefined
  if (!('failed' in line) || !isObject(line.failed)) return undefined
  const said = textIn(line.failed, 'reason')
  const reason = unreadableReasons.find((known) => known === said)
  const message = textIn(line.failed, 'message')
  return reason === undefined || message === undefined ? undefined : { failed: { reason, message } }
}

function endOf(end: object): ExtractionLine | undefined {
  const contentType = textIn(end, 'contentType')?.slice(0, 200)
  if (contentType === undefined) return undefined
  if (!('scan' in end)) return { end: { contentType } }
  return isScan(end.scan) ? { end: { contentType, scan: end.scan } } : undefined
}

function areLinks(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length > linksInLine) return false
  return value.every((link) => typeof link === 'string' && link.length <= maxLinkCharacters)
}

function isPage(value: unknown): value is PageFacts {
  if (!isObject(value)) return false
  const texts = ['title', 'canonical'].map((name): unknown => Reflect.get(value, name))
  return (
    ['page', 'sitemap', 'lists', 'feed'].includes(textIn(value, 'kind') ?? '') &&
    ['noindex', 'nofollow', 'hasMoreLinks'].every((name) => typeof Reflect.get(value, name) === 'boolean') &&
    texts.every((text) => text === undefined || (typeof text === 'string' && text.length <= maxLinkCharacters))
  )
}

function isScan(value: unknown): value is Scan {
  if (!isObject(value) || !('unreadable_pages' in value)) return false
  const { unreadable_pages: pages } = value
  return (
    ['pages', 'confidence'].every((name) => isCount(Reflect.get(value, name))) &&
    Array.isArray(pages) &&
    pages.length <= maxListedPages &&
    pages.every(isCount) &&
    Object.keys(value).length === 3
  )
}

function isChunk(value: unknown): value is Chunk {
  return (
    isObject(value) &&
    (textIn(value, 'text')?.length ?? Infinity) <= maxChunkCharacters &&
    ['tokens', 'newCharacters'].every((name) => isCount(Reflect.get(value, name))) &&
    (!('pages' in value) || arePages(value.pages, textIn(value, 'text')?.length ?? 0)) &&
    (!('sheets' in value) || areSheets(value.sheets, textIn(value, 'text')?.length ?? 0)) &&
    (!('heading' in value) || (typeof value.heading === 'string' && value.heading.length <= maxHeadingCharacters)) &&
    (!('caption' in value) || (typeof value.caption === 'string' && value.caption.length <= 2 * maxCaptionCharacters))
  )
}

/** Pages with places of sentences that ascend within a text of this length. */
function arePages(value: unknown, characters: number): value is PassagePage[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxChunkSentences) return false
  const pages: unknown[] = value
  const places: unknown[] = []
  for (const one of pages) {
    if (!isObject(one) || !('page' in one) || !isCount(one.page) || !('sentences' in one)) return false
    if (!Array.isArray(one.sentences) || one.sentences.length === 0) return false
    if ('label' in one && (textIn(one, 'label')?.length ?? Infinity) > maxLabelCharacters) return false
    if (places.length + one.sentences.length > maxChunkSentences) return false
    addAll(places, one.sentences as unknown[])
  }
  return areAscending(places, characters)
}

/** Numbers of rows, with places that ascend within a text of this length. */
function areSheets(value: unknown, characters: number): value is PassageRows[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxChunkSentences) return false
  const sheets: unknown[] = value
  const places: unknown[] = []
  for (const one of sheets) {
    if (!isObject(one) || !('rows' in one) || !('starts' in one)) return false
    const { rows, starts } = one
    if (!Array.isArray(rows) || !Array.isArray(starts) || rows.length !== starts.length) return false
    if (rows.length === 0 || places.length + rows.length > maxChunkSentences || !areAscending(rows, Infinity))
      return false
    if ('sheet' in one && (textIn(one, 'sheet')?.length ?? Infinity) > maxSheetCharacters) return false
    addAll(places, starts as unknown[])
  }
  return areAscending(places, characters)
}

function areAscending(numbers: unknown[], end: number): boolean {
  return numbers.every((number, index) => {
    const before = index === 0 ? -1 : Number(numbers[index - 1])
    return isCount(number) && Number(number) > before && Number(number) < end
  })
}

function parseJson(text: string): unknown {
  try {
    return parseForeignJson(text, lineLimits)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isCount = (value: unknown) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

function textIn(value: object, name: string): string | undefined {
  const member: unknown = Reflect.get(value, name)
  return typeof member === 'string' ? member : undefined
}
