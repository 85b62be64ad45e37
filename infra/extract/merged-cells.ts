/** More are read as they are: each costs a look for each row. */
const maxMerges = 10_000
/** A merged cell is repeated in at most so many columns. */
const maxColumns = 100

/** Cells that are shown as one: rows and columns from 0, the last ones included. */
interface MergedRange {
  firstRow: number
  lastRow: number
  firstColumn: number
  lastColumn: number
}

/** Merged cells of a sheet: the value of the first one stands for all of them. */
export function createMergedCells() {
  const starting = new Map<number, MergedRange[]>()
  let count = 0
  let open: { range: MergedRange; text: string }[] = []

  return {
    /** Call it before `fill` is called for the first row of the range. */
    add(range: MergedRange): void {
      if (count++ >= maxMerges) return
      const known = starting.get(range.firstRow)
      if (known === undefined) starting.set(range.firstRow, [range])
      else known.push(range)
    },
    /** Adds what merged cells say in this row; call it for each row in order. Returns the columns that only repeat. */
    fill(row: number, cells: Map<number, string>): Set<number> {
      open = open.filter(({ range }) => range.lastRow >= row)
      for (const range of starting.get(row) ?? []) {
        const text = cells.get(range.firstColumn)
        if (text !== undefined) open.push({ range, text })
      }
      const repeated = new Set<number>()
      // A row without values of its own stays empty.
      if (cells.size === 0) return repeated
      for (const { range, text } of open) {
        const last = Math.min(range.lastColumn, range.firstColumn + maxColumns)
        for (let column = range.firstColumn; column <= last; column++) {
          cells.set(column, cells.get(column) ?? text)
          if (column > range.firstColumn) repeated.add(column)
        }
      }
      return repeated
    },
  }
}
