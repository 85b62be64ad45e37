import { Parser } from 'htmlparser2'
import { addAll } from '../../../domain/add-all.ts'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type Content, headOf } from '../content.ts'
import { type Raised, learnRaisedClasses, raisedBy, raisedMarks, withRaised } from '../raised-text.ts'
import { readText } from '../read-text.ts'
import { type SpanningCell, type TableWriter, createTableWriter } from '../table-rows.ts'
import { formatted } from '../word/numbering.ts'

const skipped = new Set(
  'script style noscript template svg math iframe object canvas nav button datalist rt rp'.split(' '),
)
const blockTags = new Set(
  (
    'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer ' +
    'form header hgroup hr html legend main menu ol p section summary ul br'
  ).split(' '),
)
/** Characters of the style sheet of a page. */
const maxStyles = 1024 * 1024
/** Each end tag is searched among the open elements, so this limits the cost of a tag. */
const maxDepth = 2000

/** The content of a page without markup, scripts and navigation. Also reads XML: the text of its elements. */
export async function* readHtml(
  content: Content,
  extension: string,
  classes = new Map<string, Raised>(),
): AsyncGenerator<Block> {
  const writer = createHtmlWriter({ xmlMode: extension === 'xml', isChapter: extension === 'xhtml', classes })
  for await (const piece of readText(content, await declaredCharset(content))) yield* writer.write(piece)
  yield* writer.end()
}

interface WriterOptions {
  xmlMode: boolean
  /** Of a book, whose title says nothing that its headings do not say. */
  isChapter: boolean
  classes: Map<string, Raised>
}

function createHtmlWriter({ xmlMode, isChapter, classes }: WriterOptions) {
  const content = createContent()
  let skipDepth = 0
  let depth = 0
  /** The open lists; `next` is the number of the next item of one with numbers. */
  const lists: List[] = []
  let isStyle = false
  let styles = ''
  /** Whether the open spans of a class stand above or below their line. */
  const spans: (Raised | undefined)[] = []

  const data = xmlMode ? createDataNames() : undefined

  function openTag(name: string, attributes: Record<string, string>): void {
    data?.open(name, attributes, content.hasText())
    if (++depth > maxDepth) throw new UnreadableFile('damaged', 'This page nests its elements too deeply to be read.')
    const isSkipped =
      skipped.has(name) ||
      isHidden(attributes) ||
      (name === 'option' && !('selected' in attributes)) ||
      (isChapter && (name === 'title' || isNoteMark(attributes)))
    if (skipDepth > 0 || (!xmlMode && isSkipped)) {
      skipDepth++
      isStyle = name === 'style'
      return
    }
    if (!xmlMode && name === 'span') {
      const raised = raisedBy(attributes, classes)
      spans.push(raised)
      if (raised !== undefined) content.add(raisedMarks[raised][0])
    }
    if (!xmlMode && (name === 'sup' || name === 'sub')) content.add(marksOf(name)[0])
    else if (name === 'table') content.beginTable()
    else if (!content.openInTable(name, attributes)) openBlock(name, attributes)
    if (name === 'img' && attributes['alt']) content.add(` ${attributes['alt']} `)
    if (name === 'input' && !xmlMode) content.add(` ${valueOf(attributes)} `)
    if ((name === 'option' || name === 'textarea') && !xmlMode) content.add(' ')
  }

  function openBlock(name: string, attributes: Record<string, string>): void {
    if (/^h[1-6]$/.test(name)) content.beginHeading(Number(name[1]))
    else if (name === 'title') content.beginHeading(1)
    else if (name === 'li') {
      content.endBlock()
      content.add(`${markOf(lists.at(-1), attributes)} `)
    } else if (name === 'ol' || name === 'ul') {
      content.endBlock()
      lists.push(listOf(name, attributes))
    } else if (name === 'pre') content.beginPreformatted()
    else if (xmlMode || blockTags.has(name)) content.endBlock()
  }

  function closeTag(name: string): void {
    depth--
    if (skipDepth === 0) content.name(data?.close(content.hasText()))
    else data?.close(false)
    if (isStyle) learnRaisedClasses(styles, classes)
    isStyle = false
    styles = ''
    if (skipDepth > 0) skipDepth--
    else if (!xmlMode && name === 'span') {
      const raised = spans.pop()
      if (raised !== undefined) content.add(raisedMarks[raised][1])
    } else if (!xmlMode && (name === 'sup' || name === 'sub')) content.add(marksOf(name)[1])
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
        if (isStyle) styles += styles.length < maxStyles ? piece : ''
        else if (skipDepth === 0) content.addText(piece)
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

/**
 * Elements that hold a value instead of others, as data has them: their names and attributes say what it is. The parts
 * of a sentence hold none.
 */
function createDataNames() {
  const elements: { before: string; behind: string; isMixed: boolean; hasElements: boolean }[] = []
  return {
    open(name: string, attributes: Record<string, string>, isBehindText: boolean): void {
      const parent = elements.at(-1)
      if (parent) {
        parent.hasElements = true
        parent.isMixed ||= isBehindText
      }
      const facts = Object.entries(attributes).filter(([key]) => !/^xml|:schemaLocation$/.test(key))
      const behind = facts.map(([key, value]) => `${localName(key)} ${value}`).join(', ')
      const before = localName(name)
      elements.push({
        before: textNames.test(before) ? '' : before.slice(0, longestName),
        behind: behind.length > longestFacts ? '' : behind,
        isMixed: parent?.isMixed === true,
        hasElements: false,
      })
    },
    /** What stands around the text of the element that ends. */
    close(hasText: boolean): { before: string; behind: string } | undefined {
      const done = elements.pop()
      if (!done || done.hasElements || done.isMixed || done.before === '') return undefined
      if (!hasText) return done.behind === '' ? undefined : { before: `${done.before}: ${done.behind}`, behind: '' }
      return { before: `${done.before}: `, behind: done.behind === '' ? '' : ` (${done.behind})` }
    },
  }
}

/** What documents call their texts, in whatever language of marks. */
const textNames =
  /^(?:p|para|paragraph|text|t|title|head|heading|caption|li|item|line|l|td|th|cell|entry|term|note|span|em?|b|i|strong|a|link|ref|quote|q|code|pre|body|div|section|h[1-6])$/i
const longestName = 60
const longestFacts = 300

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** A text without a block tag is cut at this length. */
const maxBlockCharacters = 64 * 1024

interface OpenTable {
  writer: TableWriter
  /** The cells of the open row. */
  row: SpanningCell[] | undefined
  /** Which cells of the row are names. */
  names: boolean[]
  /** A row of several cells has told whether there is a header. */
  knowsHeader?: boolean
  /** The cell that is open. */
  spans: Omit<SpanningCell, 'text'>
}

const isHidden = (attributes: Record<string, string>): boolean =>
  'hidden' in attributes || /(?:^|;)\s*display\s*:\s*none/i.test(attributes['style'] ?? '')

const marksOf = (name: 'sup' | 'sub') => raisedMarks[name === 'sup' ? 'super' : 'sub']

interface List {
  next: number | undefined
  step: number
  format: string
}

const listFormats = new Map([
  ['a', 'lowerLetter'],
  ['A', 'upperLetter'],
  ['i', 'lowerRoman'],
  ['I', 'upperRoman'],
  ['lower-alpha', 'lowerLetter'],
  ['lower-latin', 'lowerLetter'],
  ['upper-alpha', 'upperLetter'],
  ['upper-latin', 'upperLetter'],
  ['lower-roman', 'lowerRoman'],
  ['upper-roman', 'upperRoman'],
  ['decimal-leading-zero', 'decimalZero'],
])

function listOf(name: string, { start, type, style = '', reversed }: Record<string, string>): List {
  const styled = /list-style(?:-type)?\s*:\s*([\w-]+)/i.exec(style)?.[1]?.toLowerCase()
  const isBullet = name === 'ul' || styled === 'none' || styled === 'disc' || styled === 'circle' || styled === 'square'
  const first = start === undefined || Number.isNaN(Number(start)) ? 1 : Math.trunc(Number(start))
  return {
    next: isBullet ? undefined : first,
    step: reversed === undefined || start === undefined ? 1 : -1,
    format: listFormats.get(styled ?? type ?? '') ?? 'decimal',
  }
}

/** The number of an item, as a page shows it. */
function markOf(list: List | undefined, { value }: Record<string, string>): string {
  if (list?.next === undefined) return '-'
  const own = value !== undefined && /^-?\d{1,9}$/.test(value) ? Number(value) : list.next
  list.next = own + list.step
  return `${formatted(own, list.format)}.`
}

/** Inputs that show no value, or one that is a label of what they do. */
const withoutValue = /^(?:hidden|password|submit|reset|button|image|file)$/

/** What stands in a field of a form, and its tick as the other formats have it. */
function valueOf({ type = 'text', value = '', ...attributes }: Record<string, string>): string {
  const kind = type.toLowerCase()
  if (kind === 'checkbox' || kind === 'radio') return 'checked' in attributes ? '[x]' : '[ ]'
  return withoutValue.test(kind) ? '' : value
}

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
    const [first, ...others] = table.names
    // Where only the first cell is a name, it is one of its row.
    if (first === true && table.knowsHeader !== true && others.length > 0 && new Set(others).size === 1)
      table.writer.knowHeader(others[0] === true)
    table.knowsHeader ||= others.length > 0
    table.names = []
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
    hasText: (): boolean => /\S/.test(text),
    /** Puts names around the text of the block that is open. */
    name(names: { before: string; behind: string } | undefined): void {
      if (names !== undefined) text = `${names.before}${text.trim()}${names.behind}`
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
      tables.push({ writer: createTableWriter({ isInText: true }), row: undefined, names: [], spans: {} })
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
        table.names.push(name === 'th')
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
