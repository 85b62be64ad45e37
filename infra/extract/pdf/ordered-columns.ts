import { smallestOf, largestOf } from '../../../domain/extremes.ts'
import type { Gap } from './columns.ts'
import { isFigure, type Segment } from './segments.ts'

interface OrderedColumns {
  /** From the left, as wide as what stands in them. */
  columns: Gap[]
  gaps: Gap[]
}

/**
 * The columns of a table whose rows have equally many cells, told by the order of the cells. Names that stand at the
 * left of their columns and figures at the right, as spreadsheets print them, leave wider gaps within columns than
 * between them. Undefined: the cells do not stand in such an order.
 */
export function orderedColumns(rows: Segment[][]): OrderedColumns | undefined {
  const several = rows.filter((row) => row.length > 1)
  const width = widestOf(several)
  const full = several.filter((row) => row.length === width)
  if (width < 3) return undefined
  const corner = largestOf(full.map(([first]) => first?.right ?? 0))
  const isNames = (row: Segment[]) =>
    row.length === width - 1 && (row[0]?.left ?? 0) > corner && !row.some(({ text }) => isFigure(text))
  // The corner above the names of rows may be empty.
  const names = several.find((row) => isNames(row))
  const columns = Array.from({ length: width }, (_, at) => {
    const own = full.flatMap((row) => row[at] ?? [])
    const name = names?.[at - 1]
    if (name !== undefined) own.push(name)
    return { left: smallestOf(own.map(({ left }) => left)), right: largestOf(own.map(({ right }) => right)) }
  })
  const gaps = columns.slice(1).map(({ left }, at) => ({ left: columns[at]?.right ?? 0, right: left }))
  if (!gaps.every(({ left, right }) => left <= right)) return undefined
  // Lines across columns are titles of groups, unless there are many.
  const fitting = rows.filter((row) => fits(row, columns)).length
  return fitting >= rows.length * 0.7 ? { columns, gaps } : undefined
}

/** Whether each cell of a row stands in a column of its own. */
function fits(row: Segment[], columns: Gap[]): boolean {
  let last = -1
  for (const { left, right } of row) {
    const own = columns.flatMap((column, at) => (left < column.right && right > column.left ? [at] : []))
    const [only] = own
    if (only === undefined || own.length > 1 || only <= last) return false
    last = only
  }
  return true
}

/** How many cells the widest rows have; a few rows may be wider by chance. */
function widestOf(rows: Segment[][]): number {
  const counts = new Map<number, number>()
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1)
  const enough = Math.max(3, rows.length * 0.3)
  return largestOf([0, ...[...counts].flatMap(([length, count]) => (count >= enough ? [length] : []))])
}

/**
 * The columns that the cells of a first row cover, such as years above the names of quarters: cells stand above the
 * middle or the left of equally many columns each. Undefined: they do not.
 */
export function coveredColumns(
  row: Segment[],
  { columns }: OrderedColumns,
): { start: number; count: number }[] | undefined {
  const named = columns.length - 1
  const count = named / row.length
  if (row.length < 2 || count < 2 || !Number.isInteger(count)) return undefined
  const spans = row.map((_, index) => ({ start: 1 + index * count, count }))
  const fits = (test: (cell: Segment, left: number, right: number) => boolean) =>
    spans.every(({ start }, index) => {
      const [cell, first, last] = [row[index], columns[start], columns[start + count - 1]]
      return cell !== undefined && first !== undefined && last !== undefined && test(cell, first.left, last.right)
    })
  const areAtLeft = fits((cell, left) => Math.abs(cell.left - left) < cell.size)
  const areInMiddle = fits(
    (cell, left, right) =>
      Math.abs(cell.left + cell.right - left - right) / 2 < Math.max(cell.size, 0.15 * (right - left)),
  )
  return areAtLeft || areInMiddle ? spans : undefined
}
