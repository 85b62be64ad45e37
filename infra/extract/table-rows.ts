import { addAll } from '../../domain/add-all.ts'
import { type Block, maxCaptionCharacters, maxSheetCharacters } from '../../domain/chunking/block.ts'
import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { areOfManyKinds, areYears, isName, isOfOneKind, isPlaceholder } from './table-header.ts'

/** A cell with the rows and columns that it covers. */
export interface SpanningCell {
  text: string
  columns?: number | undefined
  rows?: number | undefined
}

interface Row {
  cells: Map<number, string>
  /** Columns that only repeat the value of a cell to the left. */
  repeated: ReadonlySet<number>
  place: ReturnType<typeof locationOf> & { row?: number }
}

/** A row to ask about, with its values as they are written. */
export const rowOf = (given: Iterable<[column: number, text: string]>, repeated: ReadonlySet<number>): Row => ({
  cells: new Map([...given].map(([column, text]) => [column, text.replace(/\s+/g, ' ').trim()])),
  repeated,
  place: {},
})

interface Options {
  page?: number
  label?: string
  sheet?: string
  /** True: the first row with more than one value is the header, whatever it looks like. False: there is none. */
  hasHeader?: boolean
  /** A table in a text, where two columns may be labels and what they stand for. */
  isInText?: boolean
  /** Columns that the program that made the table does not show. */
  hiddenColumns?: ReadonlySet<number>
}

/** Where a row says that it is hidden: behind the last column that a sheet can have. */
export const hiddenColumn = 20_000

/** A cell covers at most so many columns: each of them repeats its value. */
const maxSpan = 100
/** Copies of long values that a table may have: of tables in tables each would multiply those of the one within. */
const maxCopiedCharacters = 4_000_000
const longValue = 1000
/** So many rows are held back until it is known which of them is the header. */
export const bufferedRows = 12
/** Longer names are cut: they are repeated in every row. */
const nameCharacters = 120

/**
 * Rows of a table as blocks. Every row is written as `header: value; header: value`, so that a chunk from the middle of
 * a table still says what its numbers mean. Lines above the header are kept as they are; a merged cell repeats its
 * value in each row and column that it covers.
 */
export function createTableWriter(options: Options = {}) {
  let place = locationOf(options)
  const covered = createCovered(countCopy)
  let copied = 0
  let buffered: Row[] | undefined = []
  let known = options.hasHeader
  let header: Map<number, string> | undefined
  let areLabels = false
  /** Rows behind an empty one: they may be another table. */
  let apart: Row[] | undefined
  const kinds = createColumnKinds()
  /** Names of columns without a value until now, by their columns. */
  const empty = new Map<number, string>()
  /** The lines above the header: each row says what they say. */
  let captioned: { caption?: string } = {}

  function countCopy(text: string): void {
    if (text.length < longValue) return
    copied += text.length
    if (copied > maxCopiedCharacters)
      throw new UnreadableFile('too_large', 'This file repeats the contents of its cells too often to be read.')
  }

  /** A row by the positions of its cells, for sheets whose cells may be a million columns apart. */
  function sparseRow(
    given: Iterable<[column: number, text: string]>,
    repeated: ReadonlySet<number> = new Set(),
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
    if (options.isInText === true) joinSigns(cells)
    const row = { cells, repeated, place: number === undefined ? place : { ...place, row: number } }
    if (buffered === undefined) return follow(row)
    buffered.push(row)
    return buffered.length < bufferedRows ? [] : release(false)
  }

  let last: number | undefined

  /** A row below the header. */
  function follow(row: Row): Block[] {
    const { row: number } = row.place
    const isApart = number !== undefined && last !== undefined && number > last + 1
    last = number
    if (isApart) {
      const before = endApart()
      apart = [row]
      return before
    }
    if (apart === undefined) return written(row)
    apart.push(row)
    return apart.length < bufferedRows ? [] : endApart()
  }

  /** Decides whether the rows behind an empty one are a table with names of its own. */
  function endApart(): Block[] {
    const rows = apart ?? []
    apart = undefined
    const title = rows.findIndex((row) => ownValues(row).length > 1)
    const [head, ...below] = title < 0 ? [] : rows.slice(title)
    if (header === undefined || head === undefined || !kinds.isOtherTable(head, below)) {
      // A remark below the table, or the name of a group, is not a value of the first column.
      return rows.flatMap((row) => (header !== undefined && isRemark(row) ? [plain(row)] : written(row)))
    }
    const names = namesWithoutValues()
    header = new Map()
    addNames(header, head.cells)
    for (const [column, name] of header) empty.set(column, name)
    kinds.clear()
    const lines = rows.slice(0, title)
    captioned = captionOf(lines)
    return [...names, ...lines.flatMap(plain), ...below.flatMap(written)]
  }

  /** Decides about the header, and writes what was held back. */
  function release(isWhole: boolean): Block[] {
    const rows = buffered ?? []
    buffered = undefined
    const { at, length } = known === false ? { at: 0, length: 0 } : headerOf(rows, known === true, options.isInText)
    areLabels = options.isInText === true && (length === 0 ? isOfPairs(rows) : known === undefined && isOfLabels(rows))
    const isSheet = options.sheet !== undefined && isWhole
    if (isSheet) areLabels = length === 0 ? rows.length > 1 && isOfPairs(rows) : isSheetOfLabels(rows)
    if (areLabels) return rows.flatMap(written)
    /** Of names of columns: said once, and not in each row. */
    const remarks: Block[] = []
    /** `(in millions)` in the corner names no column. */
    const units: Row[] = []
    const head = rows[at]
    // A table of nothing but a header: its row is content.
    if (head !== undefined && length > 0 && !(isWhole && at + length === rows.length)) {
      header = new Map()
      for (const row of rows.slice(at, at + length)) {
        addNames(header, row.cells)
        const commented = [...row.cells.values()].filter((name) => withoutComment(name) !== name)
        addAll(
          remarks,
          commented.map((text): Block => ({ kind: 'row', text, ...row.place })),
        )
      }
      const unit = options.isInText === true ? header.get(0) : undefined
      if (unit !== undefined && (isInBrackets(unit) || isAboutYears(unit, header))) {
        header.delete(0)
        units.push({ ...head, cells: new Map([[0, unit]]), repeated: new Set() })
      }
      for (const column of options.hiddenColumns ?? []) {
        const name = header.get(column)
        if (name !== undefined) header.set(column, `${name} (hidden column)`)
      }
      for (const [column, name] of header) empty.set(column, name)
      last = rows[at + length - 1]?.place.row
      rows.splice(at, length)
    }
    const lines = [...rows.slice(0, at), ...units]
    captioned = captionOf(lines)
    const made = [
      ...lines.flatMap(plain),
      ...remarks,
      ...rows.slice(at).flatMap(header === undefined ? written : follow),
    ]
    return isWhole ? [...made, ...endApart()] : made
  }

  const plain = (row: Row): Block => ({ kind: 'row', text: inLine(ownValues(row)), ...row.place })

  /** A row that is too wide for a chunk is several, each with the row's name before it. */
  function written(row: Row): Block[] {
    // A line across the table, such as the name of a group of rows.
    if (areLabels) return [pair(row)]
    if (header === undefined || (ownValues(row).length === 1 && row.cells.size > 1)) return [plain(row)]
    kinds.add(row)
    const parts: string[] = []
    let before: string | undefined
    for (const [column, value] of row.cells) {
      const name = header.get(column)
      empty.delete(column)
      const part = name === undefined ? value : `${name}: ${value}`
      // A cell says its value once under each of the names that it covers.
      if (!row.repeated.has(column) || part !== before) parts.push(part)
      before = part
    }
    return inWidths(parts).map((text) => ({ kind: 'row' as const, text, ...row.place, ...captioned }))
  }

  /** What would be lost: a cell of the first row with nothing below it. */
  function namesWithoutValues(): Block[] {
    const used = new Set([...(header ?? [])].flatMap(([column, name]) => (empty.has(column) ? [] : [name])))
    const names = new Set([...empty.values()].filter((name) => !used.has(name)))
    empty.clear()
    return names.size === 0 ? [] : inWidths([...names]).map((text) => ({ kind: 'row' as const, text, ...place }))
  }

  function pair(row: Row): Block {
    const [label = '', ...values] = ownValues(row)
    const text = values.length === 1 && !label.endsWith(':') ? `${label}: ${values[0]}` : inLine([label, ...values])
    return { kind: 'row', text, ...row.place }
  }

  return {
    sparseRow,
    /** Says whether the rows that follow begin with a header. Where nothing is said it is guessed. */
    knowHeader(has: boolean): void {
      known ??= has
    },
    row: (cells: string[], number?: number): Block[] => sparseRow(cells.entries(), undefined, number),

    /** A row of cells that may cover others, also of the rows below. */
    spanningRow(cells: SpanningCell[]): Block[] {
      const { row, repeated } = covered.place(cells)
      return sparseRow(row, repeated)
    },

    /** Whether rows of the next page are another table: names that stand above figures, and not those of this one. */
    isOtherTable(rows: SpanningCell[][]): boolean {
      const [head, ...below] = rows.slice(0, bufferedRows).map((row) => {
        const { row: cells, repeated } = createCovered(() => {}).place(row)
        return rowOf(
          cells.filter(([, text]) => text.trim() !== ''),
          repeated,
        )
      })
      return head !== undefined && kinds.isOtherTable(head, below)
    },

    /** The table goes on on the next page. */
    turnTo(next: Pick<Options, 'page' | 'label'>): void {
      place = locationOf({ ...options, ...next })
    },

    end: (): Block[] => [...(buffered === undefined ? endApart() : release(true)), ...namesWithoutValues()],
  }
}

function locationOf({ page, label, sheet }: Options) {
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

/** Fields of a form stand behind their labels: `Name: Ada`. */
const inLine = (values: string[]): string =>
  values.map((value, at) => (at === 0 ? value : `${behind(values[at - 1])}${value}`)).join('')

const behind = (value = '') => (value.endsWith(':') ? ' ' : '; ')

function captionOf(lines: Row[]): { caption?: string } {
  const caption = lines.map((row) => inLine(ownValues(row))).join(' ')
  return caption === '' ? {} : { caption: caption.slice(0, maxCaptionCharacters).toWellFormed() }
}

/** One value, in words, at the left. */
function isRemark(row: Row): boolean {
  const [value, ...others] = ownValues(row)
  return value !== undefined && others.length === 0 && row.cells.has(0) && isName(value)
}

/** Two columns whose rows are of different kinds, such as the facts about a contract: its first row is no header. */
function isOfLabels(rows: Row[]): boolean {
  if (rows.length < 3 || !isOfPairs(rows)) return false
  return areOfManyKinds(rows.slice(1).map((row) => ownValues(row)[1] ?? ''))
}

/** A short sheet of two columns, words in some rows and figures in others: `Tenant: Ada`, `Length: 9.4`. */
function isSheetOfLabels(rows: Row[]): boolean {
  if (rows.length < 4 || !rows.every(({ cells }) => cells.size < 3 && cells.has(0))) return false
  const isInOrder = rows.every(({ place }, at) => at === 0 || place.row === (rows[at - 1]?.place.row ?? 0) + 1)
  const given = rows.flatMap(({ cells }) => cells.get(1) ?? []).filter((value) => !isPlaceholder(value))
  if (!isInOrder || given.length < rows.length - 1) return false
  return rows.every(({ cells }) => isName(cells.get(0) ?? '')) && given.slice(1).some(isName) && !given.every(isName)
}

export const isOfPairs = (rows: Row[]): boolean =>
  rows.every((row) => {
    const [label = ''] = ownValues(row)
    return ownValues(row).length === 2 && row.cells.size === 2 && row.cells.has(0) && row.cells.has(1) && isName(label)
  })

/** So many rows tell what a column holds. */
const mostKindRows = 200

/** Which columns hold nothing but numbers: what names one cannot stand there. */
function createColumnKinds() {
  const columns = new Map<number, { rows: number; names: number }>()
  let rows = 0
  return {
    clear(): void {
      columns.clear()
      rows = 0
    },
    add({ cells }: Row): void {
      if (rows++ > mostKindRows) return
      for (const [column, value] of cells) {
        const known = columns.get(column)
        const name = isName(value) ? 1 : 0
        if (known === undefined) columns.set(column, { rows: 1, names: name })
        else {
          known.rows++
          known.names += name
        }
      }
    },
    /** Whether these rows have names of their own: one stands above numbers, or where only numbers stood before. */
    isOtherTable(head: Row, below: Row[]): boolean {
      if (below.length === 0 || !looksLikeHeader(head, below) || ownValues(head).some(isPlaceholder)) return false
      // The corner above names of rows may be empty.
      const isNamed = (column: number) => head.cells.has(column) || column === 0
      if (below.some(({ cells }) => [...cells.keys()].some((column) => !isNamed(column)))) return false
      return [...head.cells].some(([column, value]) => {
        if (!isName(value)) return false
        const values = below.flatMap(({ cells }) => cells.get(column) ?? [])
        const before = columns.get(column)
        const wereNumbers = before !== undefined && before.rows > 1 && before.names === 0
        return wereNumbers || (values.length > 0 && !values.some(isName))
      })
    },
  }
}

/** Tables of reports have columns of their own for signs of currencies, closing brackets and signs of percent. */
function joinSigns(cells: Map<number, string>): void {
  let sign: { column: number; text: string } | undefined
  let last: number | undefined
  for (const [column, value] of cells) {
    const number = last === undefined ? undefined : cells.get(last)
    if (sign !== undefined && column === sign.column + 1 && !isName(value)) {
      cells.delete(sign.column)
      cells.set(column, `${sign.text}${value}`)
    } else if (last === column - 1 && number !== undefined && /^(?:\)|\)? ?%)$/.test(value) && /\d$/.test(number)) {
      cells.delete(column)
      cells.set(last, `${number}${value.replace(' ', '')}`)
      continue
    }
    sign = /^[A-Z]{0,3}\p{Sc}$/u.test(value) ? { column, text: value } : undefined
    last = column
  }
}

const ownValues = ({ cells, repeated }: Row): string[] =>
  [...cells].filter(([column]) => !repeated.has(column)).map(([, value]) => value)

/** Of a cell of a sheet. */
const commentMark = ' (comment: '

function withoutComment(value: string): string {
  const at = value.indexOf(commentMark)
  return at > 0 ? value.slice(0, at) : value
}

/** A header of two rows names a column by both: `2025 Sales`. */
function addNames(header: Map<number, string>, cells: Map<number, string>): void {
  for (const [column, value] of cells) {
    const above = header.get(column)
    const own = withoutComment(value)
    const name = above === undefined || above === own ? own : `${above} ${own}`
    header.set(column, name.slice(0, nameCharacters).toWellFormed())
  }
}

/** Where the header stands; `length` is 0 if there is none. Rows before `at` are above the table. */
export function headerOf(rows: Row[], isGiven: boolean, isInText = false): { at: number; length: number } {
  const years = isInText && !isGiven ? rows.findIndex(({ cells }) => areNamedByYears(cells)) : -1
  if (years > 0 && !rows.slice(0, years).some(hasFigures)) {
    const [above, own] = [rows[years - 1]?.cells, rows[years]?.cells]
    const isOfEach =
      above !== undefined && above.size > 1 && [...above.keys()].every((column) => column > 0 && own?.has(column))
    return isOfEach ? { at: years - 1, length: 2 } : { at: years, length: 1 }
  }
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
  const below = rows.slice(at + 1)
  const before = rows[at - 1]
  if (isGiven || looksLikeHeader(head, below)) return { at, length: isOfTwoRows(head, below) ? 2 : 1 }
  // A header may name fewer columns than there are.
  const isHeaderBefore = (widths[at - 1] ?? 0) >= Math.max(2, width * 0.6)
  if (before !== undefined && isHeaderBefore && looksLikeHeader(before, rows.slice(at)))
    return { at: at - 1, length: 1 }
  return { at, length: 0 }
}

/** Names that several columns share stand above names of their own; units stand below names. */
function isOfTwoRows(head: Row, [next, ...below]: Row[]): boolean {
  if (next === undefined || below.length === 0) return false
  if (head.repeated.size > 0 && looksLikeHeader(next, below)) return true
  // `December 31,` above `2025`.
  const isAboveYears = [...next.cells].every(([column, value]) => head.cells.has(column) && areYears([value]))
  if (isAboveYears && next.cells.size > 1 && !next.cells.has(0)) return true
  const [first] = head.cells.keys()
  const units = [...next.cells]
  const areUnits = units.every(([, value]) => value.length <= longestUnit && isName(value) && !isPlaceholder(value))
  if (!areUnits || units.length < 2 || first === undefined || next.cells.has(first)) return false
  const haveNumbers = (column: number) => below.every(({ cells }) => !isName(cells.get(column) ?? '0'))
  return below.every(({ cells }) => cells.has(first)) && units.every(([column]) => haveNumbers(column))
}

const longestUnit = 12

const isInBrackets = (value: string): boolean => /^\([^()]*\)$/.test(value)

const hasFigures = ({ cells }: Row): boolean => [...cells.values()].some((value) => !isName(value))

/** Years as names of all columns but the first, as in a report. */
function areNamedByYears(cells: Map<number, string>): boolean {
  const names = [...cells].filter(([column]) => column > 0).map(([, value]) => value)
  return names.length > 1 && areYears(names) && isName(cells.get(0) ?? 'corner')
}

/** `Years ended December 31,` in the corner says something of the years, and `(in millions)` of the values. */
const isAboutYears = (corner: string, header: Map<number, string>): boolean =>
  /[\d(]/.test(corner) && areNamedByYears(header)

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
  // Fields of a form.
  if (values.some((value, index) => value.endsWith(':') && values[index + 1]?.endsWith(':') === false)) return false
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
