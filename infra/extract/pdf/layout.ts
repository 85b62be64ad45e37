import { addAll } from '../../../domain/add-all.ts'
import { largestOf, smallestOf } from '../../../domain/extremes.ts'
import type { SpanningCell } from '../table-rows.ts'
import { type Gap, areColumns, gapsOf, middle, rowsOf, tableGaps } from './columns.ts'
import { coveredColumns, orderedColumns } from './ordered-columns.ts'
import { isFigure, type Segment } from './segments.ts'
import { isRightToLeft, withBrackets } from './words.ts'

/** A line of text, as wide as its column. */
export interface Line extends Pick<Segment, 'text' | 'left' | 'right' | 'top' | 'bottom' | 'base' | 'size' | 'isBold'> {
  /** Begins with the first line of another column or region. */
  isFirst?: boolean
  /** Holds what was filled into a form. */
  hasField?: boolean
  /** What stands apart on it, from left to right. */
  segments: Segment[]
}

export interface TablePart {
  rows: SpanningCell[][]
  left: number
  right: number
  /** Between its columns, where they are told by them. */
  gaps?: Gap[]
}

export type Part = { lines: Line[] } | { table: TablePart }

const deepest = 8

/**
 * The lines and tables of a page in reading order, however they were drawn: regions from top to bottom, in each of them
 * its columns from the side where its script begins.
 */
export function layOut(segments: Segment[]): Part[] {
  const text = segments.reduce((sum, segment) => sum + (isRightToLeft(segment.text) ? 1 : -1), 0)
  return partsOf(segments, { isFromRight: text > 0, depth: 0 })
}

interface PageLocation {
  isFromRight: boolean
  depth: number
}

function partsOf(segments: Segment[], location: PageLocation): Part[] {
  if (location.depth > deepest) return unordered(segments, location)
  const parts: Part[] = []
  for (const region of regionsOf(bandsOf(segments))) addAll(parts, partsOfRegion(region, location))
  return parts
}

function unordered(segments: Segment[], location: PageLocation): Part[] {
  const tables = segments.flatMap(({ table }) => (table ? [{ table }] : []))
  const others = segments.filter(({ table }) => !table)
  return others.length === 0 ? tables : [...tables, { lines: linesOf(others, location) }]
}

/** Segments that overlap in height, from top to bottom. */
function bandsOf(segments: Segment[]): Segment[][] {
  const bands: Segment[][] = []
  let bottom = -Infinity
  for (const segment of segments.toSorted((a, b) => a.top - b.top)) {
    const band = bands.at(-1)
    if (band === undefined || segment.top >= bottom - 0.15 * segment.size) bands.push([segment])
    else band.push(segment)
    bottom = Math.max(bottom, segment.bottom)
  }
  return bands
}

interface Region {
  segments: Segment[]
  hasGaps: boolean
  isTable: boolean
}

/** Neighbouring bands that leave a common stripe free. */
function regionsOf(bands: Segment[][]): Region[] {
  const regions: Region[] = []
  for (const band of bands) {
    const open = regions.at(-1)
    const isTable = band.some(({ table }) => table)
    const hasGaps = !isTable && gapsOf(band).length > 0
    if (open === undefined || isTable || open.isTable) {
      regions.push({ segments: [...band], hasGaps, isTable })
      continue
    }
    const isFar = open.hasGaps && isFarBelow(band, open.segments)
    const both = open.hasGaps && !isFar ? mergedOutline(open.segments, band) : []
    if ((open.hasGaps && gapsOf(both).length > 0 && !isFar) || (!open.hasGaps && !hasGaps)) addAll(open.segments, band)
    else regions.push({ segments: [...band], hasGaps, isTable })
  }
  return regions
}

/** What segments cover, as few wide ones: regions are compared with each of their bands. */
function mergedOutline(region: Segment[], band: Segment[]): Segment[] {
  const merged: Segment[] = []
  for (const segment of [...region.slice(-maxCompared), ...band].toSorted((a, b) => a.left - b.left)) {
    const last = merged.at(-1)
    if (last !== undefined && segment.left <= last.right) {
      if (segment.right > last.right) merged[merged.length - 1] = { ...last, right: segment.right }
    } else merged.push(segment)
  }
  return merged
}

const maxCompared = 300

function isFarBelow(band: Segment[], region: Segment[]): boolean {
  const last = region.at(-1)
  const [first] = band
  return last !== undefined && first !== undefined && first.top - last.bottom > 3.5 * Math.max(last.size, first.size)
}

function partsOfRegion({ segments, hasGaps }: Region, location: PageLocation): Part[] {
  const first = segments.find(({ table }) => table)
  if (first?.table) {
    const beside = segments.filter((segment) => segment !== first)
    const own: Part = { table: first.table }
    return beside.length === 0 ? [own] : [own, ...partsOf(beside, { ...location, depth: location.depth + 1 })]
  }
  if (!hasGaps || location.depth >= deepest) return [{ lines: linesOf(segments, location) }]
  const halves = columnsOf(segments)
  if (halves !== undefined) {
    const ordered = location.isFromRight ? halves.toReversed() : halves
    return ordered.flatMap((half) => partsOf(half, { ...location, depth: location.depth + 1 }))
  }
  return tableParts(segments, location)
}

/** The two sides of the widest gap, if they are columns of text. */
function columnsOf(segments: Segment[]): [Segment[], Segment[]] | undefined {
  const gaps = gapsOf(segments).toSorted((a, b) => b.right - b.left - (a.right - a.left))
  for (const gap of gaps.slice(0, 3)) {
    const left = segments.filter((segment) => segment.right <= gap.left + 1)
    const right = segments.filter((segment) => segment.right > gap.left + 1)
    if (areColumns(left, right)) return [left, right]
  }
  return undefined
}

/** Tables one below the other, and the text around them. */
function tableParts(segments: Segment[], location: PageLocation): Part[] {
  return tablesOf(rowsOf(segments)).flatMap((rows) => partsOfTable(rows, location))
}

/** Rows from one text across the columns to the next, as far as a row of names follows it. */
function tablesOf(rows: Segment[][]): Segment[][][] {
  const size = middle(rows.flat().map((segment) => segment.size))
  const left = smallestOf(rows.flatMap((row) => row[0]?.left ?? []))
  const following = rowsOfColumnsAfter(rows)
  const tables: Segment[][][] = [[]]
  for (const [index, row] of rows.entries()) {
    const [only] = row
    const next = following[index]
    const isText = only !== undefined && row.length === 1 && only.left < left + only.size && next !== undefined
    const isAcross = isText && (only.words > 5 || only.size > size * 1.15) && only.right > (next[1]?.left ?? Infinity)
    const isTitle = isText && only.size > size * 1.15
    if ((isAcross || isTitle) && areNames(next ?? [])) tables.push([])
    tables.at(-1)?.push(row)
  }
  return tables
}

/** For each row, the next one with several texts. */
function rowsOfColumnsAfter(rows: Segment[][]): (Segment[] | undefined)[] {
  const following: (Segment[] | undefined)[] = []
  let next: Segment[] | undefined
  for (const row of rows.toReversed()) {
    following.push(next)
    if (row.length > 1) next = row
  }
  return following.reverse()
}

const areNames = (row: Segment[]): boolean =>
  row.every(({ text }) => !isFigure(text) || /^(?:19|20)\d\d$/.test(text)) &&
  row.some(({ text }) => /\p{L}|\d{4}/u.test(text))

/** Lines above and below with one value belong to the text around. */
function partsOfTable(rows: Segment[][], location: PageLocation): Part[] {
  let [from, to] = [0, rows.length]
  while (from < to && rows[from]?.length === 1) from++
  while (to > from && rows[to - 1]?.length === 1) to--
  const inside = rows.slice(from, to)
  const lines = (of: Segment[][]): Part[] => (of.length === 0 ? [] : [{ lines: linesOf(of.flat(), location) }])
  const table = tableOf(inside, location)
  if (table === undefined) return lines(rows)
  return [...lines(rows.slice(0, from)), { table }, ...lines(rows.slice(to))]
}

function tableOf(rows: Segment[][], { isFromRight }: PageLocation): TablePart | undefined {
  const segments = rows.flat()
  const withSeveral = rows.filter((row) => row.length > 1).length
  if (rows.length < 2 || withSeveral < Math.max(2, rows.length * 0.4)) return undefined
  // Sentences with numbers beside some of their lines, such as a list of exhibits.
  const ofWords = rows.filter((row) => row.length === 1 && (row[0]?.words ?? 0) > 5).length
  if (ofWords > rows.length * 0.35) return undefined
  const ordered = orderedColumns(rows)
  const gaps = ordered?.gaps ?? tableGaps(segments, rows.length)
  if (gaps.length === 0 || (rows.length < 3 && gaps.length < 2)) return undefined
  if (segments.some(({ field }) => field) || areMarkers(segments, gaps[0]?.left ?? 0)) return undefined
  if (gaps.length === 1 && areLabels(rows)) return undefined
  const [first] = rows
  const covered = ordered && first && coveredColumns(first, ordered)
  const lines = joinWrapped(
    rows.map((row) => (row === first && covered ? coveringLine(row, covered) : tableLine(row, gaps))),
    rows.map((row) => middle(row.map(({ base }) => base))),
  )
  return {
    rows: lines.map((line) => cellsOf(line, gaps.length + 1, isFromRight)),
    left: smallestOf(segments.map(({ left }) => left)),
    right: largestOf(segments.map(({ right }) => right)),
    ...(isFromRight ? {} : { gaps }),
  }
}

/** A line as a row of a table with these gaps between its columns; undefined if it is none. */
export function continuedRow({ segments }: Line, { gaps = [] }: TablePart): SpanningCell[] | undefined {
  const isAcross = segments.some(({ left, right }) => gaps.some((gap) => left < gap.left && right > gap.right))
  if (gaps.length === 0 || segments.length < 2 || isAcross) return undefined
  return cellsOf(tableLine(segments, gaps), gaps.length + 1, false)
}

function coveringLine(row: Segment[], covered: { start: number; count: number }[]): TableLine {
  return new Map(row.map(({ text }, at) => [covered[at]?.start ?? at, { text, columns: covered[at]?.count ?? 1 }]))
}

function tableLine(row: Segment[], gaps: Gap[]): TableLine {
  const columnOf = (x: number) => gaps.filter(({ left, right }) => (left + right) / 2 < x).length
  const line: TableLine = new Map()
  for (const { left, right, text } of row) {
    const column = columnOf(left + 1)
    const known = line.get(column)
    // What ends between two columns does not cover the second one.
    const last = gaps.filter((gap) => gap.right < right).length
    if (known) known.text += ` ${text}`
    else line.set(column, { text, columns: 1 + Math.max(0, last - column) })
  }
  return line
}

type TableLine = Map<number, { text: string; columns: number }>

function cellsOf(line: TableLine, width: number, isFromRight: boolean): SpanningCell[] {
  const cells: SpanningCell[] = []
  for (let column = 0; column < width;) {
    const { text, columns: most } = line.get(column) ?? { text: '', columns: 1 }
    let columns = 1
    // A long cell reaches into the next column, which has a cell of its own.
    while (columns < most && !line.has(column + columns)) columns++
    cells.push({ text, columns })
    column += columns
  }
  return isFromRight ? cells.toReversed() : cells
}

/** Rows whose cells go on in the next line: a name above its values, or texts below theirs. */
function joinWrapped(lines: TableLine[], bases: number[]): TableLine[] {
  const distances = lines.map((_, index) => (bases[index] ?? 0) - (bases[index - 1] ?? 0))
  const usual = middle(distances.filter((_, index) => index > 0 && isWhole(lines[index])))
  const joined: TableLine[] = []
  for (const [index, line] of lines.entries()) {
    const before = joined.at(-1)
    const [above, name] = [before?.get(0), line.get(0)]
    if (before && joined.length > 1 && goesOn(before, line, (distances[index] ?? 0) < nearer * usual)) {
      for (const [column, cell] of line) addText(before, column, cell.text)
      continue
    }
    if (before?.size === 1 && above && name && /^\p{Ll}/u.test(name.text) && joined.length > 1) {
      joined.pop()
      line.set(0, { ...name, text: `${above.text} ${name.text}` })
    }
    joined.push(line)
  }
  return joined
}

/** Lines of a row are nearer to each other than rows, by a part of their distance. */
const nearer = 0.8

const isWhole = (line: TableLine | undefined): boolean => line !== undefined && line.has(0) && line.size > 1

function goesOn(above: TableLine, line: TableLine, isNear: boolean): boolean {
  if (line.size >= above.size || [...line.keys()].some((column) => !above.has(column))) return false
  const texts = [...line.values()].map(({ text }) => text)
  if (texts.some(isFigure)) return false
  return isNear || (texts.length === 1 && !line.has(0) && /^\p{Ll}/u.test(texts[0] ?? ''))
}

function addText(line: TableLine, column: number, text: string): void {
  const cell = line.get(column)
  if (cell) line.set(column, { ...cell, text: `${cell.text} ${text}` })
}

/** Marks and numbers of a list, with its text behind them. */
function areMarkers(segments: Segment[], gap: number): boolean {
  const first = segments.filter(({ left }) => left < gap)
  return first.every(
    ({ text }) => text.length <= 2 || /^[([]?[\divxlc]{1,4}(?:[.)\]]|\.\d{1,3})+$|^[([]?\p{L}[.)\]]$/iu.test(text),
  )
}

/** `Name: …`, line by line. */
function areLabels(rows: Segment[][]): boolean {
  const labels = rows.filter((row) => row.length > 1 && row[0]?.text.endsWith(':')).length
  return labels >= rows.length * 0.5
}

function linesOf(segments: Segment[], { isFromRight }: PageLocation): Line[] {
  return rowsOf(segments).map((row, index) => {
    const ordered = isFromRight ? row.toReversed() : row
    const [largest] = row.toSorted((a, b) => b.text.length - a.text.length)
    const text = ordered.map((segment) => segment.text).join(' ')
    return {
      text: isFromRight ? withBrackets(text) : text,
      left: smallestOf(row.map(({ left }) => left)),
      right: largestOf(row.map(({ right }) => right)),
      top: smallestOf(row.map(({ top }) => top)),
      bottom: largestOf(row.map(({ bottom }) => bottom)),
      base: middle(row.map(({ base }) => base)),
      size: largest?.size ?? 1,
      isBold: row.every(({ isBold, text }) => isBold || isFigure(text)) && row.some(({ isBold }) => isBold),
      isFirst: index === 0,
      hasField: row.some(({ field }) => field),
      segments: row,
    }
  })
}
