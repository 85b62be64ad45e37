import { addAll } from '../../domain/add-all.ts'
import type { Block } from '../../domain/chunking/block.ts'
import { createTableWriter, headerOf, bufferedRows, hiddenColumn, isOfPairs, rowOf } from './table-rows.ts'

interface Options {
  sheet: string
  /** Columns that the program that made the sheet does not show. */
  hiddenColumns?: ReadonlySet<number>
}

/** More beside each other are columns of one table. */
const mostTables = 8

interface SheetRow {
  cells: [column: number, text: string][]
  /** Columns that only repeat the value of a cell to the left. */
  repeated: ReadonlySet<number>
  number: number
}

/**
 * The rows of a sheet as blocks, as `createTableWriter` writes them. A sheet may hold tables beside each other, such as
 * a list and a box with its totals: where an empty column stands between tables whose names stand in other rows, each
 * is a table of its own.
 */
export function createSheetWriter({ sheet, hiddenColumns }: Options) {
  let buffered: SheetRow[] | undefined = []
  let tables: { start: number; writer: ReturnType<typeof createTableWriter> }[] = []

  function begin(rows: SheetRow[]): Block[] {
    tables = startsOf(rows).map((start) => {
      const hidden = [...(hiddenColumns ?? [])].map((column) => column - start)
      return { start, writer: createTableWriter({ sheet, hiddenColumns: new Set(hidden) }) }
    })
    return rows.flatMap(written)
  }

  function written(row: SheetRow): Block[] {
    if (tables.length === 1) return tables[0]?.writer.sparseRow(row.cells, row.repeated, row.number) ?? []
    return tables.flatMap(({ start, writer }, index) => {
      const part = partOf(row, start, tables[index + 1]?.start)
      return part.cells.every(([column]) => column === hiddenColumn)
        ? []
        : writer.sparseRow(part.cells, part.repeated, row.number)
    })
  }

  return {
    /** A row by its cells in the order of their columns; `number` counts from 1. */
    row(cells: [column: number, text: string][], repeated: ReadonlySet<number>, number: number): Block[] {
      if (cells.length === 0) return []
      const row = { cells, repeated, number }
      if (buffered === undefined) return written(row)
      buffered.push(row)
      if (buffered.length < bufferedRows) return []
      const rows = buffered
      buffered = undefined
      return begin(rows)
    },

    end(): Block[] {
      const blocks = buffered === undefined ? [] : begin(buffered)
      buffered = undefined
      for (const { writer } of tables) addAll(blocks, writer.end())
      return blocks
    },
  }
}

/** The columns from `start` on, up to `next`, counted from 0. */
function partOf({ cells, repeated, number }: SheetRow, start: number, next = hiddenColumn): SheetRow {
  const isOwn = (column: number) => column >= start && column < next
  const own = cells.flatMap(([column, text]): [number, string][] => {
    if (column === hiddenColumn) return [[column, text]]
    return isOwn(column) ? [[column - start, text]] : []
  })
  return { cells: own, repeated: new Set([...repeated].filter(isOwn).map((column) => column - start)), number }
}

/** The first columns of the tables of a sheet: one, unless several stand beside each other. */
function startsOf(rows: SheetRow[]): number[] {
  const used = new Set(rows.flatMap(({ cells, repeated }) => cells.map(([at]) => at).filter((at) => !repeated.has(at))))
  used.delete(hiddenColumn)
  const columns = [...used].toSorted((a, b) => a - b)
  const starts = columns.filter((column, index) => index === 0 || column > (columns[index - 1] ?? 0) + 1)
  if (starts.length < 2 || starts.length > mostTables) return [0]
  const parts = starts.map((start, index) => {
    const own = rows.map((row) => partOf(row, start, starts[index + 1]))
    return own.filter(({ cells }) => cells.some(([column]) => column !== hiddenColumn))
  })
  const kinds = parts.map((part, index) => kindOf(part, index > 0))
  const areTables = kinds.every((kind) => kind !== undefined) && new Set(kinds).size > 1
  return areTables ? starts : [0]
}

const isAmount = (text: string): boolean => /^[-+(]?[\d.,\s%€$£]+\)?$/.test(text)

/** Where the names of a table stand, or that it is made of labels and their values; undefined: it is no table of its own. */
function kindOf(given: SheetRow[], isBeside: boolean): string | undefined {
  const rows = given.map(({ cells, repeated }) => rowOf(cells, repeated))
  if (rows.every(({ cells }) => cells.size < 2)) return undefined
  if (rows.length > 1 && isOfPairs(rows) && rows.some(({ cells }) => isAmount(cells.get(1) ?? ''))) {
    const [first] = rows
    if (isAmount(first?.cells.get(1) ?? '')) return 'pairs'
  }
  const { at, length } = headerOf(rows, false)
  const below = rows.slice(at + length)
  if (length === 0 || below.length === 0) return undefined
  // Amounts that go on with the rows of the table to the left.
  if (isBeside && below.every(({ cells }) => isAmount(cells.get(0) ?? '0'))) return undefined
  return `${given[at]?.number} ${length}`
}
