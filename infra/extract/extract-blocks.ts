import type { Block } from '../../domain/chunking/block.ts'
import { UnreadableFile, noText } from '../../domain/knowledge/unreadable-file.ts'
import type { FileRead } from '../../services/knowledge/extraction.ts'
import { type Content, sizeOf } from './content.ts'
import { type Detected, detectFormat } from './detect-format.ts'
import { type InnerFiles, createInnerFiles } from './inner-files.ts'
import type { ScanReader } from './ocr/scan.ts'

/**
 * Maximum number of characters that a file may unpack to. Ordinary documents stay far below; a page that is drawn a
 * million times, or a cell repeated over a sheet, does not.
 */
const freeCharacters = 10_000_000
const charactersPerByte = 50

export interface Reading {
  /** Reads pages that are pictures; without it they hold no text. */
  scans?: ScanReader | undefined
  /** Whether what a workbook or presentation hides is read: sheets, rows, columns, slides. Default: yes. */
  readsHidden?: boolean | undefined
}

/**
 * The text of a file as blocks in reading order. Throws `UnreadableFile`. Runs parsers on untrusted data: call it only in
 * a separate process (see `extractor.ts`).
 */
export async function* extractBlocks(
  content: Content,
  name: string,
  reading: Reading = {},
): AsyncGenerator<Block, FileRead> {
  const size = await sizeOf(content)
  if (size === 0) throw new UnreadableFile('empty', 'This file is empty.')
  const detected = await detectFormat(content, name)
  const limit = freeCharacters + charactersPerByte * size
  const inner = createInnerFiles(size, (file, given) => blocksOf(file.content, file.name, reading, given))
  let characters = 0
  let found = false
  for await (const raw of await readerOf(content, detected, reading, inner)) {
    const block = { ...raw, text: storable(raw.text) }
    characters += block.text.length
    if (characters > limit)
      throw new UnreadableFile('too_large', 'This file unpacks to far more text than a file of its size can hold.')
    found ||= /[\p{L}\p{N}]/u.test(block.text)
    yield block
  }
  if (!found) throw noText()
  return { contentType: detected.contentType, scan: reading.scans?.result() }
}

/** The blocks of a file that is in another one. */
async function* blocksOf(content: Content, name: string, reading: Reading, inner: InnerFiles): AsyncGenerator<Block> {
  if ((await sizeOf(content)) === 0) return
  yield* await readerOf(content, await detectFormat(content, name), reading, inner)
}

/** Text that every store and model server accepts: without zero characters and lone surrogates. */
function storable(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed()
}

/** Each reader is loaded when it is needed: loading its library takes longer than reading most files. */
async function readerOf(
  content: Content,
  detected: Detected,
  { scans, readsHidden = true }: Reading,
  inner: InnerFiles,
): Promise<AsyncGenerator<Block>> {
  const { format, contentType, extension } = detected
  switch (format) {
    case 'pdf':
      return (await import('./formats/pdf.ts')).readPdf(content, scans)
    case 'office':
      if (extension === 'docx') return (await import('./formats/word.ts')).readWord(content)
      if (extension === 'wordml') return (await import('./formats/word.ts')).readWordXml(content)
      if (extension === 'epub') return (await import('./formats/book.ts')).readBook(content)
      if (extension === 'pptx') return (await import('./formats/slides.ts')).readSlides(content, readsHidden)
      if (extension === 'doc') return (await import('./formats/doc.ts')).readDoc(content)
      if (extension === 'ppt') return (await import('./formats/ppt.ts')).readPpt(content, readsHidden)
      if (extension === 'rtf') return (await import('./formats/rtf.ts')).readRtf(content)
      return (await import('./formats/open-document.ts')).readOpenDocument(content, extension, readsHidden)
    case 'spreadsheet':
      if (extension === 'ods' || extension === 'ots')
        return (await import('./formats/open-document.ts')).readOpenDocument(content, extension, readsHidden)
      return (await import('./formats/spreadsheet.ts')).readSpreadsheet(content, readsHidden)
    case 'html':
      return (await import('./formats/html.ts')).readHtml(content, extension)
    case 'markdown':
      return (await import('./formats/markdown.ts')).readMarkdown(content)
    case 'delimited':
      return (await import('./formats/delimited.ts')).readDelimited(content, extension)
    case 'json':
      return (await import('./formats/json.ts')).readJson(content, extension)
    case 'notebook':
      return (await import('./formats/notebook.ts')).readNotebook(content)
    case 'mail':
      return (await import('./formats/mail.ts')).readMail(content, extension, inner)
    case 'calendar':
      return (await import('./formats/calendar.ts')).readCalendar(content)
    case 'contacts':
      return (await import('./formats/contacts.ts')).readContacts(content)
    case 'archive':
      return (await import('./formats/zip.ts')).readZip(content, inner)
    case 'code':
      return (await import('./formats/code.ts')).readCode(content, extension)
    case 'text':
      return (await import('./formats/plain.ts')).readPlain(content, format)
    case 'binary':
      return (await import('./formats/binary.ts')).readBinary(content)
    case 'picture':
      if (scans === undefined) throw withoutText(contentType)
      return (await import('./formats/picture.ts')).readPicture(content, extension, scans)
    case 'media':
      throw withoutText(contentType)
    case 'encrypted':
      throw new UnreadableFile('encrypted', 'This document is protected with a password and cannot be read.')
  }
}

const withoutText = (contentType: string) =>
  new UnreadableFile('unsupported', `This file is ${contentType}, which holds no text that can be read.`)
