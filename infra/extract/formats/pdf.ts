import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { PDFiumLibrary } from '@hyzyla/pdfium'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile, noText } from '../../../domain/knowledge/unreadable-file.ts'
import type { Picture, ScanReader } from '../ocr/scan.ts'

/** The library keeps every opened page until the document is closed: 60 KB each. */
const pagesPerOpening = 500

const wasm = createRequire(import.meta.url).resolve('@hyzyla/pdfium/pdfium.wasm')

/** Compiled once per process: that takes as long as thirty pages. */
let loading: Promise<PDFiumLibrary> | undefined

async function load(): Promise<PDFiumLibrary> {
  return PDFiumLibrary.init({ wasmBinary: new Uint8Array(await readFile(wasm)).buffer })
}

/**
 * The text of each page in the order in which the page draws it. Pages without text are drawn and read by `scans`, also
 * those that hold only a few letters beside pictures: programs that scan put their name there.
 */
export async function* readPdf(path: string, scans?: ScanReader): AsyncGenerator<Block> {
  const library = await (loading ??= load())
  const bytes = await readFile(path)
  let document = await open(library, bytes)
  const pages = document.getPageCount()
  let found = false
  for (let index = 0; index < pages; index++) {
    if (index > 0 && index % pagesPerOpening === 0) {
      document.destroy()
      document = await open(library, bytes)
    }
    const drawn = pageText(document, index)
    const text = (scans && (await scannedText(document, index, drawn, scans))) ?? drawn
    if (text === '') continue
    found = true
    yield { kind: 'text', text, page: index + 1 }
  }
  document.destroy()
  if (!found && pages > 0) {
    throw new UnreadableFile(
      'no_text',
      scans
        ? `This PDF has pages but no text, and ${scans.whyGivenUp() ?? 'no legible words were found in its pictures'}.`
        : 'This PDF has pages but no text: it seems to consist of pictures, which are not read.',
    )
  }
  if (!found) throw noText()
}

type PdfDocument = Awaited<ReturnType<PDFiumLibrary['loadDocument']>>

async function open(library: PDFiumLibrary, bytes: Uint8Array): Promise<PdfDocument> {
  try {
    return await library.loadDocument(bytes)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (/password|security/i.test(message)) {
      throw new UnreadableFile('encrypted', 'This PDF is protected with a password and cannot be read.', {
        cause: error,
      })
    }
    throw new UnreadableFile('damaged', 'This PDF is damaged and cannot be opened.', { cause: error })
  }
}

/** A page that cannot be read is skipped, so that the other pages are kept. */
function pageText(document: PdfDocument, index: number): string {
  try {
    return tidy(document.getPage(index).getText())
  } catch {
    return ''
  }
}

/** As few letters as a stamp has that a scanner puts on each page. */
const fewLetters = 40
/** What a page of ordinary size has at 300 dots per inch. More takes more time and finds no more. */
const maxPixels = 9_000_000
const pointsPerInch = 72
const mostDpi = 300

/** Undefined if the page is not a picture, or if less can be read of its picture than of its text. */
async function scannedText(
  document: PdfDocument,
  index: number,
  drawn: string,
  scans: ScanReader,
): Promise<string | undefined> {
  const letters = lettersOf(drawn)
  if (letters > fewLetters || (letters > 0 && !hasPicture(document, index))) return undefined
  const text = await scans.read(index + 1, () => pagePicture(document, index))
  return text !== undefined && lettersOf(text) > letters ? text : undefined
}

const lettersOf = (text: string) => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0

/** Of a page with more objects, only the first are looked at. */
const maxObjects = 200

function hasPicture(document: PdfDocument, index: number): boolean {
  const page = document.getPage(index)
  const count = Math.min(maxObjects, page.getObjectCount())
  for (let place = 0; place < count; place++) if (page.getObject(place).type === 'image') return true
  return false
}

/** The page as a grey picture (PGM: netpbm's `P5`). Undefined if it is blank or cannot be drawn. */
async function pagePicture(document: PdfDocument, index: number): Promise<Picture | undefined> {
  try {
    const page = document.getPage(index)
    const { originalWidth, originalHeight } = page.getOriginalSize()
    const scale = Math.min(mostDpi / pointsPerInch, Math.sqrt(maxPixels / (originalWidth * originalHeight)))
    const { data, width, height } = await page.render({ scale, render: 'bitmap', colorSpace: 'Gray' })
    if (isBlank(data)) return undefined
    const header = Buffer.from(`P5\n${width} ${height}\n255\n`)
    return { bytes: Buffer.concat([header, data]), dpi: scale * pointsPerInch }
  } catch {
    return undefined
  }
}

/** All of one grey, except for specks of dust. */
function isBlank(grey: Uint8Array): boolean {
  const paper = grey[0] ?? 255
  let marks = 0
  for (const shade of grey) if (Math.abs(shade - paper) > 64) marks += 1
  return marks < grey.length / 20_000
}

function tidy(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0002\u00ad\ufffe]\n?/g, '')
    .replace(/(\p{Ll})-\n(\p{Ll})/gu, '$1$2')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
}
