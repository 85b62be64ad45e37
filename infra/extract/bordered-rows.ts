import { addAll } from '../../domain/add-all.ts'
import type { Block } from '../../domain/chunking/block.ts'
import { createTableWriter } from './table-rows.ts'

export interface CellPosition {
  /** Where the cell ends, in twentieths of a point. */
  right: number
  /** `below`: it goes on with the cell above; `beside`: with the one before it. */
  merged: 'below' | 'beside' | undefined
}

interface BorderedRow {
  cells: { text: string; place: CellPosition }[]
  /** Where the first cell begins. */
  left?: number
  isHeader: boolean
}

/** Rows that are held until the columns of their table are known. */
const maxBuffered = 500
/** Of a table with more, each cell is a column of its own row: looking for its place among all takes too long. */
const maxColumns = 1000
/** Borders of cells that are drawn so near to each other are one. */
const sameBorder = 30

/** The rows of a table of which a file says where the borders of cells are, not how many columns they cover. */
export function createBorderedRows() {
  let rows: BorderedRow[] = []

  function columnsOf(): number[] {
    const borders = [...new Set(rows.flatMap(({ cells }) => cells.map(({ place }) => place.right)))]
    const columns: number[] = []
    for (const border of borders.toSorted((a, b) => a - b))
      if (border - (columns.at(-1) ?? -Infinity) > sameBorder) columns.push(border)
    return columns.length > maxColumns ? [] : columns
  }

  function end(): Block[] {
    if (rows.length === 0) return []
    const columns = columnsOf()
    const writer = createTableWriter({ isInText: true, ...(rows[0]?.isHeader === true ? { hasHeader: true } : {}) })
    const above = new Map<number, string>()
    const blocks: Block[] = []
    for (const { cells, left } of rows) {
      const given: [number, string][] = []
      const repeated = new Set<number>()
      let column = left === undefined ? 0 : columns.filter((border) => border <= left + sameBorder).length
      let before = ''
      for (const { text: own, place } of cells) {
        const last = columns.findIndex((border) => border >= place.right - sameBorder)
        const first = column
        const text = place.merged === 'below' ? (above.get(column) ?? '') : place.merged === 'beside' ? before : own
        for (; column <= Math.max(last, first); column++) {
          given.push([column, text])
          above.set(column, text)
          if (column > first || place.merged === 'beside') repeated.add(column)
        }
        before = text
      }
      addAll(blocks, writer.sparseRow(given, repeated))
    }
    addAll(blocks, writer.end())
    rows = []
    return blocks
  }

  return {
    add(row: BorderedRow): Block[] {
      rows.push(row)
      return rows.length >= maxBuffered ? end() : []
    },
    isOpen: (): boolean => rows.length > 0,
    end,
  }
}
