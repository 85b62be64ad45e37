import { type Block, maxSheetCharacters } from '../../domain/chunking/block.ts'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { areYears, isName, isOfOneKind } from './table-header.ts'

/** A cell with the rows and columns that it covers. */
export interface SpanningCell {
  text: string
  columns?: number | undefined
  rows?: number | undefined
}

interface Row {
  cells: Map<number, string>
  /** Columns that only repeat the value of a cell to the left. */
  repeated: Set<number>
  place: ReturnType<typeof placeOf> & { row?: number }
}

interface Options {
  page?: number
  label?: string
  sheet?: string
  /** The first row with more than one value is the header, whatever it looks like. */
  hasHeader?: boolean
}

/** Where a row says that it is hidden: behind the last column that a sheet can have. */
export const hiddenColumn = 20_000

/** A cell covers at most so many columns: each of them repeats its value. */
const maxSpan = 100
/** Copies of long values that a table may have: of tables in tables each would multiply those of the one within. */
const maxCopiedCharacters = 4_000_000
const longValue = 1000
/** So many rows are held back until it is known which of them is the header. */
const heldRows = 12
/** Longer names are cut: they are repeated in every row. */
const nameCharacters = 120

/**
 * Rows of a table as blocks. Every row is written as `header: value; header: value`, so that a chunk from the middle of
 * a table still says what its numbers mean. Lines above the header are kept as they are; a merged cell repeats its
 * value in each row and column that it covers.
 */
export function createTableWriter(options: Options = {}) {
  let place = placeOf(options)
  const covered = createCovered(countCopy)
  let copied = 0
  let held: Row[] | undefined = []
  let header: Map<number, string> | undefined

  function countCopy(text: string): void {
    if (text.length < longValue) return
    copied += text.length
    if (copied > maxCopiedCharacters)
      throw new UnreadableFile('too_large', 'This file repeats the contents of its cells too often to be read.')
  }

  /** A row by the positions of its cells, for sheets whose cells may be a million columns apart. */
  function sparseRow(
    given: Iterable<[column: number, text: string]>,
    repeated = new Set<number>(),
    number?: number,
  ): Block[] {
    const cells = new Map<number, string>()
    let before: string | undefined
    for (const [column, cell] of given) {
      if (cell === before) countCopy(cell)
      before = cell
      const value = cell.replace(/\s+/g, ' ').trim()
      if (value !== '') cells.set(column, value)
    }
    if (cells.size === 0) return []
    const row = { cells, repeated, place: number === undefined ? place : { ...place, row: number } }
    if (held === undefined) return written(row)
    held.push(row)
    return held.length < heldRows ? [] : release(false)
  }

  /** Decides about the header, and writes what was held back. */
  function release(isWhole: boolean): Block[] {
    const rows = held ?? []
    held = undefined
    const { at, length } = headerOf(rows, options.hasHeader === true)
    // A table of nothing but a header: its row is content.
    if (length > 0 && !(isWhole && at + length === rows.length)) {
      header = new Map()
      for (const { cells } of rows.slice(at, at + length)) addNames(header, cells)
      rows.splice(at, length)
    }
    return rows.flatMap((row, index) => (index < at ? [plain(row)] : written(row)))
  }

  const plain = (row: Row): Block => ({ kind: 'row', text: ownValues(row).join('; '), ...row.place })

  /** A row that is too wide for a chunk is several, each with the row's name before it. */
  function written(row: Row): Block[] {
    // A line across the table, such as the name of a group of rows.
    if (header === undefined || (ownValues(row).length === 1 && row.cells.size > 1)) return [plain(row)]
    const parts: string[] = []
    for (const [column, value] of row.cells) {
      const name = header.get(column)
      parts.push(name === undefined ? value : `${name}: ${value}`)
    }
    return inWidths(parts).map((text) => ({ kind: 'row' as const, text, ...row.place }))
  }

  return {
    sparseRow,
    row: (cells: string[], number?: number): Block[] => sparseRow(cells.entries(), undefined, number),

    /** A row of cells that may cover others, also of the rows below. */
    spanningRow(cells: SpanningCell[]): Block[] {
      const { row, repeated } = covered.place(cells)
      return sparseRow(row, repeated)
    },

    /** The table goes on on the next page. */
    turnTo(next: Pick<Options, 'page' | 'label'>): void {
      place = placeOf({ ...options, ...next })
    },

    end: (): Block[] => (held === undefined ? [] : release(true)),
  }
}

function placeOf({ page, label, sheet }: Options) {
  return {
    ...(page === undefined ? {} : { page }),
    ...(label === undefined ? {} : { label }),
    ...(sheet === undefined ? {} : { sheet: sheet.slice(0, maxSheetCharacters).toWellFormed() }),
  }
}

export type TableWriter = ReturnType<typeof createTableWriter>

/** Characters of a row: more would not fit into a chunk beside others. */
const widest = 800
const longestName = 200

function inWidths(parts: string[]): string[] {
  const [name = ''] = parts
  const rows: string[] = []
  let open = ''
  for (const part of parts) {
    const isFull = open !== '' && open.length + part.length > widest && open !== name
    if (isFull) rows.push(open)
    if (isFull) open = name.length <= longestName ? `${name}; ${part}` : part
    else open = open === '' ? part : `${open}; ${part}`
  }
  return [...rows, open]
}

const ownValues = ({ cells, repeated }: Row): string[] =>
  [...cells].filter(([column]) => !repeated.has(column)).map(([, value]) => value)

/** A header of two rows names a column by both: `2025 Sales`. */
function addNames(header: Map<number, string>, cells: Map<number, string>): void {
  for (const [column, value] of cells) {
    const above = header.get(column)
    const name = above === undefined || above === value ? value : `${above} ${value}`
    header.set(column, name.slice(0, nameCharacters).toWellFormed())
  }
}

/** Where the header stands; `length` is 0 if there is none. Rows before `at` are above the table. */
function headerOf(rows: Row[], isGiven: boolean): { at: number; length: number } {
  const widths = rows.map((row) => ownValues(row).length)
  // Names of columns right of an empty corner.
  const [top] = rows
  if (isGiven && top !== undefined && !top.cells.has(0)) return { at: 0, length: 1 }
  // The widest row can be an exception: there are two.
  const [first = 0, second = 0] = widths.toSorted((a, b) => b - a)
  const width = Math.max(second, Math.min(first, 2))
  const at = firstOfTable(rows, widths, width)
  const head = rows[at]
  if (head === undefined || (widths[at] ?? 0) < 2) return { at: 0, length: isGiven ? 1 : 0 }
  if (isGiven) return { at, length: 1 }
  const below = rows.slice(at + 1)
  const before = rows[at - 1]
  if (looksLikeHeader(head, below)) {
    const next = rows[at + 1]
    const isTwoRows =
      head.repeated.size > 0 && next !== undefined && below.length > 1 && looksLikeHeader(next, below.slice(1))
    return { at, length: isTwoRows ? 2 : 1 }
  }
  // A header may name fewer columns than there are.
  const isHeaderBefore = (widths[at - 1] ?? 0) >= Math.max(2, width * 0.6)
  if (before !== undefined && isHeaderBefore && looksLikeHeader(before, rows.slice(at)))
    return { at: at - 1, length: 1 }
  return { at, length: 0 }
}

/** The first row that is as wide as the table; the corner above names of rows may be empty. */
function firstOfTable(rows: Row[], widths: number[], width: number): number {
  const at = rows.findIndex((row, index) => {
    const own = widths[index] ?? 0
    const isFull = own >= Math.max(2, width) || (own >= Math.max(2, width - 1) && !row.cells.has(0))
    return isFull || spansOthers(rows, index, width)
  })
  return Math.max(0, at)
}

/** A row of merged names above another row of names. */
function spansOthers(rows: Row[], index: number, width: number): boolean {
  const row = rows[index]
  const next = rows[index + 1]
  if (row === undefined || next === undefined || row.repeated.size === 0) return false
  return ownValues(row).length > 1 && row.cells.size >= width * 0.6
}

function looksLikeHeader(row: Row, below: Row[]): boolean {
  const values = ownValues(row)
  if (values.length < 2 || values.some((value) => value.length > nameCharacters)) return false
  const others = [...row.cells].filter(([, value]) => !isName(value))
  if (others.length > 0 && !namesYears(others, row, below)) return false
  return !isOfOneKind(
    row.cells,
    below.map(({ cells }) => cells),
  )
}

/** Years beside a name or an empty corner, above columns that hold something else. */
function namesYears(numbers: [column: number, text: string][], row: Row, below: Row[]): boolean {
  const hasCorner = !row.cells.has(0) && below.some(({ cells }) => isName(cells.get(0) ?? '0'))
  if (numbers.length === row.cells.size && !hasCorner) return false
  if (!areYears([...new Set(numbers.map(([, text]) => text))])) return false
  return below.some(({ cells }) => numbers.some(([column]) => !areYears([cells.get(column) ?? ''])))
}

/** The columns that cells of rows above cover. */
function createCovered(countCopy: (text: string) => void) {
  let open = new Map<number, { text: string; rows: number; isRepeated: boolean }>()

  return {
    place(cells: SpanningCell[]): { row: [number, string][]; repeated: Set<number> } {
      const row: [number, string][] = []
      const repeated = new Set<number>()
      const next: typeof open = new Map()
      let column = 0
      const takeCovered = () => {
        for (let above = open.get(column); above !== undefined; above = open.get(column)) {
          countCopy(above.text)
          row.push([column, above.text])
          if (above.isRepeated) repeated.add(column)
          if (above.rows > 1) next.set(column, { ...above, rows: above.rows - 1 })
          open.delete(column)
          column++
        }
      }
      for (const { text, columns = 1, rows = 1 } of cells) {
        takeCovered()
        const width = Math.min(Math.max(1, columns), maxSpan)
        for (let index = 0; index < width; index++, column++) {
          row.push([column, text])
          if (index > 0) repeated.add(column)
          if (rows > 1) next.set(column, { text, rows: rows - 1, isRepeated: index > 0 })
        }
      }
      for (const [at, above] of open) {
        countCopy(above.text)
        row.push([at, above.text])
        if (above.isRepeated) repeated.add(at)
        if (above.rows > 1) next.set(at, { ...above, rows: above.rows - 1 })
      }
      open = next
      return { row: row.toSorted(([a], [b]) => a - b), repeated }
    },
  }
}
