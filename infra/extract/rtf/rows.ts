import { addAll } from '../../../domain/add-all.ts'
import type { Block } from '../../../domain/chunking/block.ts'
import { createTableWriter } from '../table-rows.ts'

interface CellPlace {
  /** Where the cell ends, in twentieths of a point. */
  right: number
  /** `below`: it goes on with the cell above; `beside`: with the one before it. */
  merged: 'below' | 'beside' | undefined
}

interface Row {
  cells: { text: string; place: CellPlace }[]
  isHeader: boolean
}

/** Rows that are held until the columns of their table are known. */
const maxHeld = 500
const maxCells = 1000
/** Of a table with more, each cell is a column of its own row: looking for its place among all takes too long. */
const maxColumns = 1000
/** Borders of cells that are drawn so near to each other are one. */
const sameBorder = 30

/** The rows of a table: RTF says where the borders of cells are, not how many columns they cover. */
export function createRows() {
  let rows: Row[] = []
  let places: CellPlace[] = []
  let merged: CellPlace['merged']
  let isHeader = false
  let texts: string[] = []

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
    const writer = createTableWriter({ hasHeader: rows[0]?.isHeader === true })
    const above = new Map<number, string>()
    const blocks: Block[] = []
    for (const { cells } of rows) {
      const given: [number, string][] = []
      const repeated = new Set<number>()
      let column = 0
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
    /** A word that says how the row looks. False if it is another one. */
    word(name: string, value: number | undefined): boolean {
      if (name === 'trowd') {
        places = []
        isHeader = false
      } else if (name === 'trhdr') isHeader = true
      else if (name === 'clvmrg') merged = 'below'
      else if (name === 'clmrg') merged = 'beside'
      else if (name === 'cellx') {
        if (places.length < maxCells) places.push({ right: value ?? 0, merged })
        merged = undefined
      } else return false
      return true
    },
    endCell(text: string): void {
      if (texts.length < maxCells) texts.push(text)
    },
    endRow(): Block[] {
      const cells = texts.map((text, index) => ({
        text,
        place: places[index] ?? { right: (places.at(-1)?.right ?? 0) + (index + 1) * 100, merged: undefined },
      }))
      rows.push({ cells, isHeader })
      texts = []
      return rows.length >= maxHeld ? end() : []
    },
    isOpen: (): boolean => rows.length > 0 || texts.length > 0,
    end,
  }
}
