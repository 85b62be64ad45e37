import { type Block, maxLabelCharacters } from '../../../domain/chunking/block.ts'
import { UnreadableFile, noText } from '../../../domain/knowledge/unreadable-file.ts'
import { type Content, bytesOf } from '../content.ts'
import type { Picture, ScanReader } from '../ocr/scan.ts'
import { type PageContent, readPage } from '../pdf/page-content.ts'
import { createPageWriter } from '../pdf/page-writer.ts'
import {
  type PdfDocument,
  type Pdfium,
  drawPage,
  labelOf,
  loadPdfium,
  openDocument,
  outlineOf,
  withPage,
} from '../pdf/pdfium.ts'
import { needsRecognizer } from '../pdf/recognizable.ts'

/** What PDFium keeps of pages that are closed goes with the document. */
const pagesPerOpening = 500
/** So many pages are known before one is written: running heads are told by their repetition. */
const pagesAhead = 12

/**
 * The text of each page in reading order: headings, paragraphs, tables, filled forms. Pages that are pictures are drawn
 * and read by `scans`, and those whose fonts do not say which letters they draw.
 */
export async function* readPdf(content: Content, scans?: ScanReader): AsyncGenerator<Block> {
  const pdfium = await loadPdfium()
  const bytes = await bytesOf(content)
  let document = open(pdfium, bytes)
  const { pages } = document
  const writer = createPageWriter(pages, outlineOf(pdfium, document))
  let isIllegible = false
  let found = false
  try {
    for (let index = 0; index < pages + pagesAhead; index++) {
      if (index > 0 && index < pages && index % pagesPerOpening === 0) {
        document.close()
        document = open(pdfium, bytes)
      }
      if (index < pages) {
        const content = await pageOf(pdfium, document, index, scans)
        isIllegible ||= content.isIllegible
        writer.add(content)
      }
      if (index >= pagesAhead || index >= pages) {
        for (const block of writer.next()) {
          found = true
          yield block
        }
      }
    }
    for (const block of writer.end()) {
      found = true
      yield block
    }
  } finally {
    document.close()
  }
  if (found) return
  if (pages === 0) throw noText()
  throw new UnreadableFile('no_text', whyNoText(scans, isIllegible))
}

function whyNoText(scans: ScanReader | undefined, isIllegible: boolean): string {
  if (scans) {
    const why = scans.whyGivenUp() ?? 'no legible words were found in its pictures'
    return `This PDF has pages but no text, and ${why}.`
  }
  return isIllegible
    ? 'The fonts of this PDF do not say which letters they draw, and pictures of its pages are not read.'
    : 'This PDF has pages but no text: it seems to consist of pictures, which are not read.'
}

function open(pdfium: Pdfium, bytes: Uint8Array): PdfDocument {
  const document = openDocument(pdfium, bytes)
  if (document === 'protected')
    throw new UnreadableFile('encrypted', 'This PDF is protected with a password and cannot be read.')
  if (document === 'damaged') throw new UnreadableFile('damaged', 'This PDF is damaged and cannot be opened.')
  return document
}

/** A page that cannot be read is empty, so that the other pages are kept. */
async function pageOf(
  pdfium: Pdfium,
  document: PdfDocument,
  index: number,
  scans: ScanReader | undefined,
): Promise<PageContent> {
  const page = { page: index + 1, label: labelOf(pdfium, document, index)?.slice(0, maxLabelCharacters).toWellFormed() }
  const content = { ...page, ...withPage(pdfium, document, index, (id) => readPage(pdfium, document, id)) }
  const whole: PageContent = { ...emptyPage, ...content }
  const reason = needsRecognizer(whole)
  if (reason === undefined) return whole
  const legible: PageContent = reason === 'illegible' ? { ...emptyPage, ...page, isIllegible: true } : whole
  const recognized = scans && (await scans.read(index + 1, () => Promise.resolve(pictureOf(pdfium, document, index))))
  return recognized === undefined ? legible : { ...legible, recognized }
}

const emptyPage = { words: [], letters: 0, unknownLetters: 0, rules: undefined, isIllegible: false }

/** What a page of ordinary size has at 300 dots per inch. More takes more time and finds no more. */
const maxPixels = 9_000_000
const pointsPerInch = 72
const mostDpi = 300

/** The page as a grey picture (PGM: netpbm's `P5`). Undefined if it is blank or cannot be drawn. */
function pictureOf(pdfium: Pdfium, document: PdfDocument, index: number): Picture | undefined {
  return withPage(pdfium, document, index, (page) => {
    const area = pdfium.native('FPDF_GetPageWidth')(page) * pdfium.native('FPDF_GetPageHeight')(page)
    const scale = Math.min(mostDpi / pointsPerInch, Math.sqrt(maxPixels / area))
    const picture = drawPage(pdfium, page, scale)
    if (picture === undefined || isBlank(picture.grey)) return undefined
    const header = Buffer.from(`P5\n${picture.width} ${picture.height}\n255\n`)
    return { bytes: Buffer.concat([header, picture.grey]), dpi: scale * pointsPerInch }
  })
}

/** All of one grey, except for specks of dust. */
function isBlank(grey: Uint8Array): boolean {
  const paper = grey[0] ?? 255
  let marks = 0
  for (const shade of grey) if (Math.abs(shade - paper) > 64) marks += 1
  return marks < grey.length / 20_000
}
