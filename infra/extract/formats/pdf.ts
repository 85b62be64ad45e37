import { readFile } from 'node:fs/promises'
import { PDFiumLibrary } from '@hyzyla/pdfium'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile, noText } from '../../../domain/knowledge/unreadable-file.ts'

/** The library keeps every opened page until the document is closed: 60 KB each. */
const pagesPerOpening = 500

/** Compiled once per process: that takes as long as thirty pages. */
let loading: Promise<PDFiumLibrary> | undefined

/** The text of each page in the order in which the page draws it. */
export async function* readPdf(path: string): AsyncGenerator<Block> {
  const library = await (loading ??= PDFiumLibrary.init())
  const bytes = await readFile(path)
  let document = await open(library, bytes)
  const pages = document.getPageCount()
  let found = false
  for (let index = 0; index < pages; index++) {
    if (index > 0 && index % pagesPerOpening === 0) {
      document.destroy()
      document = await open(library, bytes)
    }
    const text = pageText(document, index)
    if (text === '') continue
    found = true
    yield { kind: 'text', text, page: index + 1 }
  }
  document.destroy()
  if (!found && pages > 0) {
    throw new UnreadableFile(
      'no_text',
      'This PDF has pages but no text: it seems to consist of pictures, which are not read.',
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
