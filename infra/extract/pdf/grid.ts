import type { SpanningCell } from '../table-rows.ts'
import type { Rule, Rules } from './rules.ts'
import type { Word } from './words.ts'

/** A table whose cells are ruled. */
export interface GridTable {
  rows: SpanningCell[][]
  left: number
  right: number
  top: number
  bottom: number
}

/** Lines are drawn as thin boxes, and their ends meet only nearly. */
const near = 3
const maxLines = 400
const maxCells = 4000

interface Frame {
  xs: number[]
  ys: number[]
  horizontal: Rule[]
  vertical: Rule[]
}

/** The ruled tables of a page, and the words that are in none. `textOf` puts the words of a cell in order. */
export function gridTables(
  words: Word[],
  rules: Rules,
  textOf: (words: Word[]) => string,
): { tables: GridTable[]; others: Word[] } {
  let others = words
  const tables: GridTable[] = []
  for (const frame of framesOf(rules)) {
    const inside = others.filter((word) => isInside(word, frame))
    const rows = rowsOf(frame, inside, textOf)
    const filled = rows.filter((row) => row.filter(({ text }) => text !== '').length > 1).length
    if (filled < 2) continue
    const { xs, ys } = frame
    tables.push({ rows, left: xs[0] ?? 0, right: xs.at(-1) ?? 0, top: ys[0] ?? 0, bottom: ys.at(-1) ?? 0 })
    const taken = new Set(inside)
    others = others.filter((word) => !taken.has(word))
  }
  return { tables, others }
}

function isInside({ left, right, base, size }: Word, { xs, ys }: Frame): boolean {
  const [x, y] = [(left + right) / 2, base - 0.3 * size]
  return x > (xs[0] ?? 0) && x < (xs.at(-1) ?? 0) && y > (ys[0] ?? 0) && y < (ys.at(-1) ?? 0)
}

/** Lines that touch each other, as far as they enclose at least two rows and two columns. */
function framesOf(rules: Rules): Frame[] {
  const horizontal = joinedRules(rules.horizontal)
  const vertical = joinedRules(rules.vertical)
  if (horizontal.length > maxLines || vertical.length > maxLines) return []
  const groups = horizontal.map((line) => ({ horizontal: [line], vertical: new Set<Rule>() }))
  for (const group of groups)
    for (const line of vertical) if (touch(group.horizontal[0], line)) group.vertical.add(line)
  const whole: typeof groups = []
  for (const group of groups) {
    let joined = group
    for (let index = whole.length - 1; index >= 0; index--) {
      const other = whole[index]
      if (other === undefined || ![...joined.vertical].some((line) => other.vertical.has(line))) continue
      joined = {
        horizontal: [...other.horizontal, ...joined.horizontal],
        vertical: new Set([...other.vertical, ...joined.vertical]),
      }
      whole.splice(index, 1)
    }
    whole.push(joined)
  }
  return whole
    .map((group) => ({ horizontal: group.horizontal, vertical: [...group.vertical] }))
    .map((group) => ({ ...group, xs: places(group.vertical), ys: places(group.horizontal) }))
    .filter(({ xs, ys }) => xs.length > 2 && ys.length > 2 && (xs.length - 1) * (ys.length - 1) <= maxCells)
    .toSorted((a, b) => (a.ys[0] ?? 0) - (b.ys[0] ?? 0))
}

function touch(horizontal: Rule | undefined, vertical: Rule): boolean {
  if (horizontal === undefined) return false
  const isBeside = vertical.at >= horizontal.from - near && vertical.at <= horizontal.to + near
  return isBeside && horizontal.at >= vertical.from - near && horizontal.at <= vertical.to + near
}

/** Pieces of one line, such as the edges of neighbouring cells, as one. */
function joinedRules(rules: Rule[]): Rule[] {
  const joined: Rule[] = []
  for (const rule of rules.toSorted((a, b) => a.at - b.at || a.from - b.from)) {
    const known = joined.findLast(
      ({ at, from, to }, index) =>
        index >= joined.length - 40 &&
        Math.abs(at - rule.at) < near &&
        rule.from <= to + near &&
        rule.to >= from - near,
    )
    if (known === undefined) joined.push({ ...rule })
    else {
      known.from = Math.min(known.from, rule.from)
      known.to = Math.max(known.to, rule.to)
    }
  }
  return joined
}

function places(rules: Rule[]): number[] {
  const found: number[] = []
  for (const { at } of rules.toSorted((a, b) => a.at - b.at))
    if (at - (found.at(-1) ?? -Infinity) >= near) found.push(at)
  return found
}

/** A cell covers its neighbours as far as no line lies between them. */
function rowsOf({ xs, ys, horizontal, vertical }: Frame, words: Word[], textOf: (words: Word[]) => string) {
  const [columns, lines] = [xs.length - 1, ys.length - 1]
  const isRuled = (rules: Rule[], at: number, middle: number) =>
    rules.some((rule) => Math.abs(rule.at - at) < near && rule.from <= middle && rule.to >= middle)
  const middleX = (column: number) => ((xs[column] ?? 0) + (xs[column + 1] ?? 0)) / 2
  const middleY = (line: number) => ((ys[line] ?? 0) + (ys[line + 1] ?? 0)) / 2
  const taken = new Set<number>()
  const rows: SpanningCell[][] = []
  for (let line = 0; line < lines; line++) {
    const row: SpanningCell[] = []
    for (let column = 0; column < columns; column++) {
      if (taken.has(line * columns + column)) continue
      let [width, height] = [1, 1]
      while (column + width < columns && !isRuled(vertical, xs[column + width] ?? 0, middleY(line))) {
        if (taken.has(line * columns + column + width)) break
        width++
      }
      while (line + height < lines && !isRuled(horizontal, ys[line + height] ?? 0, middleX(column))) height++
      for (let y = line; y < line + height; y++)
        for (let x = column; x < column + width; x++) taken.add(y * columns + x)
      const box = [xs[column], xs[column + width], ys[line], ys[line + height]].map((place) => place ?? 0)
      row.push({ text: textOf(words.filter((word) => isWithin(word, box))), columns: width, rows: height })
    }
    rows.push(row)
  }
  return rows
}

function isWithin({ left, right, base, size }: Word, [x0 = 0, x1 = 0, y0 = 0, y1 = 0]: number[]): boolean {
  const [x, y] = [(left + right) / 2, base - 0.3 * size]
  return x >= x0 && x < x1 && y >= y0 && y < y1
}
