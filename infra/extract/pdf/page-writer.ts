import type { Block } from '../../../domain/chunking/block.ts'
import { type TableWriter, createTableWriter } from '../table-rows.ts'
import { createFurniture } from './furniture.ts'
import { gridTables } from './grid.ts'
import { createKnownWords, joinLines } from './hyphens.ts'
import { type Line, type Part, type TablePart, continuedRow, layOut } from './layout.ts'
import { type PageContent, byTurns } from './page-content.ts'
import { paragraphsOf } from './paragraphs.ts'
import type { OutlineEntry } from './pdfium.ts'
import { type Segment, segmentsOf } from './segments.ts'

interface WaitingPage {
  content: PageContent
  upright: Segment[]
  /** Text that is turned, such as along the edge of the page. */
  turned: Segment[][]
}

/** More words than any page has that people read: put in order only as they were drawn. */
const maxWords = 20_000

/** Writes pages as blocks, when enough of the next ones are known. */
export function createPageWriter(pages: number, outline: Map<number, OutlineEntry[]>) {
  const waiting: WaitingPage[] = []
  const furniture = createFurniture(pages)
  const known = createKnownWords()
  const sizes = createSizes()
  let table: OpenTable | undefined

  function* endTable(): Generator<Block> {
    if (table) yield* writeRow(table, undefined)
    if (table) yield* table.writer.end()
    table = undefined
  }

  /** Each row waits for the next: its cells may go on on the next page. */
  function* writeRow(here: OpenTable, row: TableRow | undefined): Generator<Block> {
    if (here.waiting) yield* here.writer.spanningRow(here.waiting)
    here.waiting = row
    if (row?.[0]?.text.trim() === '') here.hasUnnamedRows = true
  }

  /** Writes what waits, and goes on on the next page; returns the rows behind those that only ended the last one. */
  function* turn(here: OpenTable, location: PageLocation, rows: TableRow[]): Generator<Block, TableRow[]> {
    const [first] = rows
    const isAlike = first !== undefined && first.length === here.waiting?.length
    const isRest = isAlike && !here.hasUnnamedRows && first[0]?.text.trim() === ''
    if (isRest) here.waiting = joinedCells(here.waiting ?? [], first)
    yield* writeRow(here, undefined)
    here.writer.turnTo(location)
    return isRest ? rows.slice(1) : rows
  }

  function* writeTable(part: TablePart, location: PageLocation, isContinued: boolean): Generator<Block> {
    const columns = widthOf(part)
    const isSame = table?.columns === columns && Math.abs(table.part.left - part.left) < sameColumns
    let { rows } = part
    const isRepeated = textOf(rows[0]) === textOf(table?.part.rows[0])
    if (table && isContinued && isSame && (isRepeated || !table.writer.isOtherTable(rows))) {
      if (isRepeated) rows = rows.slice(1)
      rows = yield* turn(table, location, rows)
    } else {
      yield* endTable()
      table = { writer: createTableWriter({ ...location, isInText: true }), part, columns, hasUnnamedRows: false }
    }
    for (const row of rows) yield* writeRow(table, row)
  }

  /** Rows of the table of the page before, too few to be told as one; returns the lines behind them. */
  function* continueTable(lines: Line[], location: PageLocation): Generator<Block, Line[]> {
    let taken = 0
    for (const line of lines) {
      const row = table && continuedRow(line, table.part)
      if (!table || !row) break
      const others = taken === 0 ? yield* turn(table, location, [row]) : [row]
      for (const other of others) yield* writeRow(table, other)
      taken++
    }
    return lines.slice(taken)
  }

  function* writePage({ content, upright, turned }: WaitingPage): Generator<Block> {
    const { page, label, recognized } = content
    const place = { page, ...(label === undefined ? {} : { label }) }
    const listed = [...(outline.get(page - 1) ?? [])]
    const context = { bodySize: sizes.usual(), known, outline: listed }
    const parts: Part[] = [
      ...layOut(furniture.without(page, upright, label)),
      ...turned.flatMap((segments) => layOut(segments)),
    ]
    let open: { kind: 'text'; text: string } | undefined
    for (const [index, part] of parts.entries()) {
      if ('table' in part) {
        if (open) yield { ...open, ...place }
        open = undefined
        yield* writeTable(part.table, place, index === 0)
        continue
      }
      const lines = index === 0 ? yield* continueTable(part.lines, place) : part.lines
      for (const text of paragraphsOf(lines, context)) {
        yield* endTable()
        // A sentence that goes on in the next column.
        if (open && text.kind === 'text' && /^\p{Ll}/u.test(text.text) && /[\p{L},\-\u00ad]$/u.test(open.text)) {
          open.text = joinLines(open.text, text.text, known)
          continue
        }
        if (open) yield { ...open, ...place }
        open = undefined
        if (text.kind === 'text') open = { ...text }
        else yield { ...text, ...place }
      }
    }
    if (open) yield { ...open, ...place }
    if (recognized === undefined) return
    yield* endTable()
    const text = withoutKnown(recognizedText(recognized), content)
    if (text !== '') yield { kind: 'text', text, ...place }
  }

  return {
    add(content: PageContent): void {
      const { words, rules } = content
      if (words.length > maxWords) {
        waiting.push({
          content: { ...content, words: [], recognized: words.map(({ text }) => text).join(' ') },
          upright: [],
          turned: [],
        })
        return
      }
      const [upright = [], ...turned] = byTurns(words)
      for (const { text, size } of upright) sizes.add(size, text.length)
      const isForm = words.some(({ field }) => field)
      const ruled =
        rules === undefined || isForm || upright[0]?.turns !== 0
          ? { tables: [], others: upright }
          : gridTables(upright, rules, (inside) => textOfCell(segmentsOf(inside)))
      const segments = withLabels([...segmentsOf(ruled.others), ...ruled.tables.map(segmentOfTable)])
      known.add(segments.map(({ text }) => text).join('\n'))
      furniture.note(content.page, segments)
      waiting.push({ content, upright: segments, turned: turned.map((group) => segmentsOf(group)) })
    },
    /** The blocks of the page that has waited longest. */
    *next(): Generator<Block> {
      const page = waiting.shift()
      if (page) yield* writePage(page)
    },
    *end(): Generator<Block> {
      for (let page = waiting.shift(); page; page = waiting.shift()) yield* writePage(page)
      yield* endTable()
    },
  }
}

type TableRow = TablePart['rows'][number]

interface OpenTable {
  writer: TableWriter
  part: TablePart
  columns: number
  /** The last row that was read. */
  waiting?: TableRow | undefined
  /** Whether rows begin with an empty cell, such as those of a group. */
  hasUnnamedRows: boolean
}

/** Cells whose texts go on in others of the same columns. */
function joinedCells(above: TableRow, below: TableRow): TableRow {
  return above.map((cell, at) => ({ ...cell, text: `${cell.text} ${below[at]?.text ?? ''}`.trim() }))
}

/** Lines of a cell as one text. */
function textOfCell(segments: Segment[]): string {
  const known = createKnownWords()
  known.add(segments.map(({ text }) => text).join('\n'))
  return segments
    .reduce((above, { text, base, size }, at) => {
      const isNextLine = base - (segments[at - 1]?.base ?? base) > size / 2
      return isNextLine ? joinLines(above, text, known) : `${above} ${text}`
    }, '')
    .trim()
}

interface PageLocation {
  page: number
  label?: string
}

/** In points. */
const sameColumns = 20

const widthOf = ({ rows }: TablePart): number => (rows[0] ?? []).reduce((sum, { columns = 1 }) => sum + columns, 0)

const textOf = (row: TableRow | undefined): string | undefined => row?.map(({ text }) => text.trim()).join('\t')

function segmentOfTable(table: NonNullable<Segment['table']>): Segment {
  const { left, right, top, bottom } = table
  return { text: '', words: 0, left, right, top, bottom, base: bottom, size: 10, isBold: false, table }
}

/** Without lines that the page also has as letters: what an archive prints on pages that are pictures. */
function withoutKnown(recognized: string, { words }: PageContent): string {
  if (words.length === 0) return recognized
  const printed = plain(words.map(({ text }) => text).join(''))
  return recognized
    .split('\n')
    .filter((line) => line === '' || !printed.includes(plain(line)))
    .join('\n')
    .trim()
}

const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Lines of a paragraph as one, as far as the recognizer has told paragraphs apart by empty lines. */
function recognizedText(text: string): string {
  const known = createKnownWords()
  known.add(text)
  return text
    .split(/\n{2,}/)
    .map((paragraph) => {
      const [first = '', ...others] = paragraph.split('\n')
      return others.reduce(
        (above, line) => (/^\p{Ll}/u.test(line) ? joinLines(above, line, known) : `${above}\n${line}`),
        first,
      )
    })
    .join('\n\n')
}

/** The size that most letters of a document have. */
function createSizes() {
  const letters = new Map<number, number>()
  return {
    add(size: number, count: number): void {
      const rounded = Math.round(size * 2) / 2
      letters.set(rounded, (letters.get(rounded) ?? 0) + count)
    },
    usual(): number {
      let [best, most] = [10, 0]
      for (const [size, count] of letters) if (count > most) [best, most] = [size, count]
      return best
    },
  }
}

/**
 * Fields with the text that names them, as one segment: a value behind the text to its left, a tick before the text to
 * its right, else behind that to its left.
 */
function withLabels(segments: Segment[]): Segment[] {
  const fields = segments.filter(({ field }) => field)
  if (fields.length === 0) return segments
  let rest = segments.filter(({ field }) => !field)
  for (const field of fields) {
    const label = labelOf(field, rest)
    if (label === undefined) {
      rest = [...rest, field]
      continue
    }
    const isBefore = label.left >= field.left
    const both: Segment = {
      ...label,
      text: isBefore ? `${field.text} ${label.text}` : `${label.text} ${field.text}`,
      words: label.words + field.words,
      left: Math.min(label.left, field.left),
      right: Math.max(label.right, field.right),
      top: Math.min(label.top, field.top),
      bottom: Math.max(label.bottom, field.bottom),
      field: field.field ?? 'value',
    }
    rest = rest.map((one) => (one === label ? both : one))
  }
  return rest
}

/** In points: a tick stands close to its text. */
const farthestTick = 40
const farthestValue = 260

function labelOf(field: Segment, others: Segment[]): Segment | undefined {
  const beside = others.filter(({ base, size }) => Math.abs(base - field.base) <= 0.7 * Math.max(size, field.size))
  const right = nearest(beside, (one) => one.left - field.right + 2)
  const left = nearest(beside, (one) => field.left - one.right + 2)
  if (field.field === 'mark') return within(right, farthestTick) ?? within(left, farthestValue)
  return within(left, farthestValue)
}

interface Near {
  segment: Segment
  distance: number
}

function nearest(segments: Segment[], distanceOf: (segment: Segment) => number): Near | undefined {
  let found: Near | undefined
  for (const segment of segments) {
    const distance = distanceOf(segment)
    if (distance >= 0 && distance < (found?.distance ?? Infinity)) found = { segment, distance }
  }
  return found
}

const within = (near: Near | undefined, most: number) =>
  near !== undefined && near.distance <= most ? near.segment : undefined
