import { Parser } from 'htmlparser2'
import { addAll } from '../../../domain/add-all.ts'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { raisedMarks, withRaised } from '../raised-text.ts'
import { readText } from '../read-text.ts'
import { type SpanningCell, type TableWriter, createTableWriter } from '../table-rows.ts'
import { type Content, headOf } from '../content.ts'

const skipped = new Set(
  'script style noscript template svg math iframe object canvas nav button select textarea rt rp'.split(' '),
)
const blockTags = new Set(
  (
    'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer ' +
    'form header hgroup hr html legend main menu ol p section summary ul br'
  ).split(' '),
)
/** Each end tag is searched among the open elements, so this limits the cost of a tag. */
const maxDepth = 2000

/** The content of a page without markup, scripts and navigation. Also reads XML: the text of its elements. */
export async function* readHtml(content: Content, extension: string): AsyncGenerator<Block> {
  const writer = createHtmlWriter({ xmlMode: extension === 'xml', isChapter: extension === 'xhtml' })
  for await (const piece of readText(content, await declaredCharset(content))) yield* writer.write(piece)
  yield* writer.end()
}

/** `isChapter`: of a book, whose title says nothing that its headings do not say. */
function createHtmlWriter({ xmlMode, isChapter }: { xmlMode: boolean; isChapter: boolean }) {
  const content = createContent()
  let skipDepth = 0
  let depth = 0
  /** The open lists; `next` is the number of the next item of one with numbers. */
  const lists: { next: number | undefined }[] = []

  function openTag(name: string, attributes: Record<string, string>): void {
    if (++depth > maxDepth) throw new UnreadableFile('damaged', 'This page nests its elements too deeply to be read.')
    const isSkipped =
      skipped.has(name) || 'hidden' in attributes || (isChapter && (name === 'title' || isNoteMark(attributes)))
    if (skipDepth > 0 || (!xmlMode && isSkipped)) {
      skipDepth++
      return
    }
    if (!xmlMode && (name === 'sup' || name === 'sub')) content.add(marksOf(name)[0])
    else if (name === 'table') content.beginTable()
    else if (!content.openInTable(name, attributes)) openBlock(name, attributes)
    if (name === 'img' && attributes['alt']) content.add(` ${attributes['alt']} `)
  }

  function openBlock(name: string, attributes: Record<string, string>): void {
    if (/^h[1-6]$/.test(name)) content.beginHeading(Number(name[1]))
    else if (name === 'title') content.beginHeading(1)
    else if (name === 'li') {
      content.endBlock()
      const list = lists.at(-1)
      content.add(list?.next === undefined ? '- ' : `${list.next++}. `)
    } else if (name === 'ol' || name === 'ul') {
      content.endBlock()
      lists.push({ next: name === 'ol' ? Number(attributes['start'] ?? 1) || 1 : undefined })
    } else if (name === 'pre') content.beginPreformatted()
    else if (xmlMode || blockTags.has(name)) content.endBlock()
  }

  function closeTag(name: string): void {
    depth--
    if (skipDepth > 0) skipDepth--
    else if (!xmlMode && (name === 'sup' || name === 'sub')) content.add(marksOf(name)[1])
    else if (content.closeInTable(name)) return
    else if (/^h[1-6]$/.test(name) || name === 'title') content.endHeading()
    else if (name === 'pre') content.endPreformatted()
    else if (name === 'li') content.endBlock('row')
    else if (name === 'ol' || name === 'ul') {
      lists.pop()
      content.endBlock()
    } else if (xmlMode || blockTags.has(name)) content.endBlock()
  }

  const parser = new Parser(
    {
      onopentag: openTag,
      onclosetag: closeTag,
      ontext: (piece) => {
        if (skipDepth === 0) content.addText(piece)
      },
    },
    { decodeEntities: true, xmlMode, recognizeSelfClosing: xmlMode || isChapter },
  )

  return {
    write(piece: string): Block[] {
      parser.write(piece)
      return content.take()
    },
    end(): Block[] {
      parser.end()
      content.endBlock()
      return content.take()
    },
  }
}

/** A text without a block tag is cut at this length. */
const maxBlockCharacters = 64 * 1024

interface OpenTable {
  writer: TableWriter
  /** The cells of the open row. */
  row: SpanningCell[] | undefined
  /** The cell that is open. */
  spans: Omit<SpanningCell, 'text'>
}

const marksOf = (name: 'sup' | 'sub') => raisedMarks[name === 'sup' ? 'super' : 'sub']

/** The number of a note, which would hang on the word before it. */
function isNoteMark(attributes: Record<string, string>): boolean {
  return attributes['epub:type'] === 'noteref' || attributes['role'] === 'doc-noteref'
}

/** The blocks that the elements of a page become, and the text of the block that is open. */
function createContent() {
  let blocks: Block[] = []
  let text = ''
  let preformatted = 0
  let heading: number | undefined
  const tables: OpenTable[] = []

  function endBlock(kind: 'text' | 'row' | 'code' = 'text'): void {
    const shown = withRaised(text)
    const content = preformatted > 0 ? shown : shown.replace(/[ \t\r\n\f\u00a0]+/g, ' ').trim()
    text = ''
    if (content.trim() === '') return
    if (heading === undefined) blocks.push({ kind, text: content })
    else blocks.push({ kind: 'heading', level: heading, text: content })
  }

  function endRow(table: OpenTable): void {
    if (!table.row) return
    if (text.trim() !== '') table.row.push({ text: withRaised(text), ...table.spans })
    addAll(blocks, table.writer.spanningRow(table.row))
    table.row = undefined
    text = ''
  }

  function endTable(table: OpenTable): void {
    endRow(table)
    addAll(blocks, table.writer.end())
    tables.pop()
  }

  return {
    endBlock,
    add(piece: string): void {
      text += piece
    },
    addText(piece: string): void {
      text += piece
      if (text.length > maxBlockCharacters && !tables.at(-1)?.row) endBlock()
    },
    beginHeading(level: number): void {
      endBlock()
      heading = level
    },
    endHeading(): void {
      endBlock()
      heading = undefined
    },
    beginPreformatted(): void {
      endBlock()
      preformatted++
    },
    endPreformatted(): void {
      endBlock('code')
      preformatted = Math.max(0, preformatted - 1)
    },
    beginTable(): void {
      if (!tables.at(-1)?.row) endBlock()
      tables.push({ writer: createTableWriter(), row: undefined, spans: {} })
    },
    /** False if the tag does not concern the open table. */
    openInTable(name: string, attributes: Record<string, string>): boolean {
      const table = tables.at(-1)
      if (!table) return false
      if (name === 'tr') {
        endBlock()
        table.row = []
      } else if (name === 'td' || name === 'th') {
        table.row ??= []
        text = ''
        table.spans = { columns: spanOf(attributes['colspan']), rows: spanOf(attributes['rowspan']) }
      } else if (!table.row) return false
      else if (blockTags.has(name) || name === 'li') text += ' '
      return true
    },
    closeInTable(name: string): boolean {
      const table = tables.at(-1)
      if (!table) return false
      if (name === 'table') endTable(table)
      else if (name === 'tr') endRow(table)
      else if (name === 'td' || name === 'th') {
        table.row?.push({ text: withRaised(text), ...table.spans })
        table.spans = {}
        text = ''
      } else return table.row !== undefined
      return true
    },
    take(): Block[] {
      const done = blocks
      blocks = []
      return done
    },
  }
}

/** As browsers bound it. */
function spanOf(attribute: string | undefined): number | undefined {
  return attribute !== undefined && /^\d{1,5}$/.test(attribute) ? Math.min(Number(attribute), 1000) : undefined
}

/** As long as the beginning of a page with styles can be. */
const headBytes = 64 * 1024

export async function declaredCharset(content: Content): Promise<string | undefined> {
  const head = (await headOf(content, headBytes)).toString('latin1')
  const label =
    /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] ??
    /<\?xml[^>]+encoding\s*=\s*["']([\w-]+)/i.exec(head)?.[1]
  return knownCharset(label)
}

/** A label of the web as an encoding; undefined if it is unknown, or says Unicode, which the bytes themselves show. */
export function knownCharset(label: string | undefined): string | undefined {
  if (label === undefined || /^utf-?(8|16)/i.test(label)) return undefined
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}
