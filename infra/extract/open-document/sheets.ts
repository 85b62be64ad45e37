import type { Block } from '../../../domain/chunking/block.ts'
import { createMergedCells } from '../merged-cells.ts'
import { createSheetWriter } from '../sheet-rows.ts'
import { hiddenColumn } from '../table-rows.ts'
import type { Attributes } from '../word/xml.ts'

interface Sheet {
  writer: ReturnType<typeof createSheetWriter>
  hiddenColumns: Set<number>
  merged: ReturnType<typeof createMergedCells>
  /** The row that is open, from 0, and how many rows it stands for. */
  row: number
  repeated: number
  isHidden: boolean
  cells: Map<number, string>
  column: number
  /** The cell that is open: its own paragraphs. */
  cell: { attributes: Attributes; blocks: Block[]; comments: string[] } | undefined
  depth: number
}

/** A value is repeated in at most so many columns and rows: who fills a sheet with one means nothing by it. */
const maxRepeated = 100
const maxColumn = hiddenColumn - 1

/** What a document hides, and whether it is read all the same. */
export interface Hiding {
  /** Names of styles that hide what has them. */
  hiddenStyles: Set<string>
  readsHidden: boolean
}

/** The sheets of a workbook: each a section, its rows with their numbers and the names of their columns. */
export function createSheets(
  putRead: (blocks: Block[]) => void,
  targets: Block[][],
  { hiddenStyles, readsHidden }: Hiding,
) {
  let isWorkbook = false
  let sheet: Sheet | undefined
  /** The open sheet is hidden, and hidden ones are not read. */
  let isLeftOut = false
  const put = (blocks: Block[]) => {
    if (!isLeftOut) putRead(blocks)
  }

  function beginSheet(attributes: Attributes): void {
    const name = attributes['table:name'] ?? ''
    const isHidden = hiddenStyles.has(attributes['table:style-name'] ?? '')
    isLeftOut = isHidden && !readsHidden
    const hiddenColumns = new Set<number>()
    put([{ kind: 'heading', level: 1, text: isHidden ? `${name} (hidden sheet)` : name }])
    sheet = {
      writer: createSheetWriter({ sheet: name, hiddenColumns }),
      hiddenColumns,
      merged: createMergedCells(),
      row: 0,
      repeated: 1,
      isHidden: false,
      cells: new Map(),
      column: 0,
      cell: undefined,
      depth: 1,
    }
  }

  function endCell(here: Sheet): void {
    const { cell } = here
    here.cell = undefined
    if (cell === undefined) return
    targets.pop()
    const shown = cell.blocks.map((block) => block.text.trim()).join('\n')
    const text = [valueOf(cell.attributes, shown), ...cell.comments].join(' ').trim()
    const count = numberOf(cell.attributes, 'table:number-columns-repeated')
    const columns = numberOf(cell.attributes, 'table:number-columns-spanned')
    const rows = numberOf(cell.attributes, 'table:number-rows-spanned')
    if (columns > 1 || rows > 1)
      here.merged.add({
        firstRow: here.row,
        lastRow: here.row + rows - 1,
        firstColumn: here.column,
        lastColumn: here.column + columns - 1,
      })
    if (text !== '')
      for (let index = 0; index < Math.min(count, maxRepeated); index++)
        if (here.column + index < maxColumn && (readsHidden || !here.hiddenColumns.has(here.column + index)))
          here.cells.set(here.column + index, text)
    here.column = Math.min(here.column + count, maxColumn)
  }

  function endRow(here: Sheet): void {
    const count = here.cells.size === 0 ? 0 : Math.min(here.repeated, maxRepeated)
    const { cells } = here
    const isLeft = here.isHidden && !readsHidden
    for (let index = 0; !isLeft && index < Math.max(count, 1); index++) {
      const repeats = here.merged.fill(here.row + index, cells)
      if (here.isHidden && cells.size > 0) cells.set(hiddenColumn, '(hidden row)')
      const row = [...cells].toSorted(([a], [b]) => a - b)
      put(here.writer.row(row, repeats, here.row + index + 1))
    }
    here.row += here.repeated
  }

  return {
    isCell: (): boolean => sheet?.cell !== undefined,
    comment(text: string): void {
      sheet?.cell?.comments.push(text)
    },
    /** False if the tag is not one of a sheet. */
    open(name: string, attributes: Attributes): boolean {
      if (name === 'office:spreadsheet') isWorkbook = true
      if (!isWorkbook || !name.startsWith('table:')) return false
      if (name === 'table:table') {
        if (sheet === undefined) beginSheet(attributes)
        else sheet.depth++
      }
      if (sheet === undefined || sheet.depth > 1) return true
      if (name === 'table:table-column') {
        const end = Math.min(sheet.column + numberOf(attributes, 'table:number-columns-repeated'), maxColumn)
        if (isUnseen(attributes)) for (let at = sheet.column; at < end; at++) sheet.hiddenColumns.add(at)
        sheet.column = end
      } else if (name === 'table:table-row') {
        sheet.isHidden = isUnseen(attributes)
        sheet.repeated = numberOf(attributes, 'table:number-rows-repeated')
        sheet.cells = new Map()
        sheet.column = 0
      } else if (name === 'table:table-cell' || name === 'table:covered-table-cell') {
        const blocks: Block[] = []
        targets.push(blocks)
        sheet.cell = { attributes, blocks, comments: [] }
      }
      return true
    },
    close(name: string): boolean {
      if (!isWorkbook || !name.startsWith('table:')) return false
      if (sheet === undefined) return true
      if (name === 'table:table' && --sheet.depth === 0) {
        put(sheet.writer.end())
        sheet = undefined
      } else if (sheet.depth > 1) return true
      else if (name === 'table:table-cell' || name === 'table:covered-table-cell') endCell(sheet)
      else if (name === 'table:table-row') endRow(sheet)
      return true
    },
  }
}

/** By hand or by a filter. */
function isUnseen(attributes: Attributes): boolean {
  const visibility = attributes['table:visibility']
  return visibility === 'collapse' || visibility === 'filter'
}

function numberOf(attributes: Attributes, name: string): number {
  const value = Number(attributes[name] ?? 1)
  return Number.isInteger(value) && value > 0 ? Math.min(value, 2 ** 31) : 1
}

/** What a cell says: its value as it is stored, with its unit; `shown` is the text that the program made of it. */
function valueOf(attributes: Attributes, shown: string): string {
  const kind = attributes['office:value-type'] ?? attributes['calcext:value-type']
  const value = attributes['office:value']
  if (kind === 'error' || isError.test(shown)) return ''
  if (kind === 'float' && value !== undefined) return plain(value) ?? shown
  if (kind === 'percentage' && value !== undefined) {
    const percent = Number(value) * 100
    return Number.isFinite(percent) ? `${plain(String(percent))}%` : shown
  }
  if (kind === 'currency' && value !== undefined) return amountOf(value, attributes['office:currency']) ?? shown
  if (kind === 'date') return dateOf(attributes['office:date-value']) ?? shown
  if (kind === 'time') return timeOf(attributes['office:time-value']) ?? shown
  if (kind === 'boolean' && shown === '') return (attributes['office:boolean-value'] ?? '').toUpperCase()
  const formula = attributes['table:formula']
  if (formula !== undefined && shown === '' && value === undefined)
    return `${formula.slice(0, longestFormula).replace(/^\w+:/, '')} (formula, its value is not stored)`
  return shown
}

const isError = /^(#(N\/A|REF!|DIV\/0!|VALUE!|NAME\?|NUM!|NULL!)|Err:\d{3})$/
const longestFormula = 1000

/** The fifteen digits that spreadsheets compute with, without an exponent. */
function plain(value: string): string | undefined {
  const number = Number(value)
  if (value.trim() === '' || !Number.isFinite(number)) return undefined
  const rounded = Number(number.toPrecision(15))
  if (Number.isSafeInteger(rounded)) return String(rounded)
  return rounded.toLocaleString('en-US', { useGrouping: false, maximumSignificantDigits: 15 })
}

/** Amounts of money have at least two decimals, or none. */
function amountOf(value: string, currency: string | undefined): string | undefined {
  const number = plain(value)
  if (number === undefined) return undefined
  const shown = /\.\d$/.test(number) ? `${number}0` : number
  return currency === undefined || currency === '' ? shown : `${shown} ${currency.slice(0, 10)}`
}

/** `2025-03-04T12:30:00` as `2025-03-04 12:30`. */
function dateOf(value: string | undefined): string | undefined {
  const [, day, time = ''] = /^(-?\d{4,6}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?))?/.exec(value ?? '') ?? []
  if (day === undefined) return undefined
  return /^(00:00(:00)?)?$/.test(time) ? day : `${day} ${time.replace(/:00$/, '').padEnd(5, ':00')}`
}

/** `PT26H30M00S` as `26:30`. */
function timeOf(value: string | undefined): string | undefined {
  const [, hours, minutes, seconds] = /^PT(\d{1,6})H(\d\d?)M(\d\d?)(?:[.,]\d+)?S$/.exec(value ?? '') ?? []
  if (hours === undefined || minutes === undefined || seconds === undefined) return undefined
  const parts = [hours.padStart(2, '0'), minutes.padStart(2, '0'), seconds.padStart(2, '0')]
  return parts.join(':').replace(/(:\d\d):00$/, '$1')
}
