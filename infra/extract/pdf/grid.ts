import { addAll } from '../../../domain/add-all.ts'
import { largestOf, smallestOf } from '../../../domain/extremes.ts'
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
    // A sign of a currency beside a number is no other column: the one of this year is shaded in many reports.
    const filled = rows.filter((row) => row.filter(({ text }) => text !== '' && !isSign(text)).length > 1).length
    if (filled < 2) continue
    const { xs, ys } = frame
    tables.push({ rows, left: xs[0] ?? 0, right: xs.at(-1) ?? 0, top: ys[0] ?? 0, bottom: ys.at(-1) ?? 0 })
    const taken = new Set(inside)
    others = others.filter((word) => !taken.has(word))
  }
  return { tables, others }
}

const isSign = (text: string): boolean => /^[A-Z]{0,3}\p{Sc}$/u.test(text)

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
  const frames = whole
    .map((group) => ({ horizontal: group.horizontal, vertical: [...group.vertical] }))
    .map((group) => ({
      ...group,
      xs: withOpenSides(places(group.vertical), group.horizontal),
      ys: places(group.horizontal),
    }))
    .filter(({ xs, ys }) => xs.length > 1 && ys.length > 2)
  return frames
    .filter(({ xs, ys }) => xs.length > 2 && (xs.length - 1) * (ys.length - 1) <= maxCells)
    .filter((frame) => !frames.some((other) => other !== frame && areOfOneTable(frame, other)))
    .toSorted((a, b) => (a.ys[0] ?? 0) - (b.ys[0] ?? 0))
}

/** In points: a column is wider. */
const narrowestColumn = 18

/** Lines between rows that go on beyond the first or last line between columns enclose one without a side of its own. */
function withOpenSides(xs: number[], horizontal: Rule[]): number[] {
  const [left = 0, right = left] = [xs[0], xs.at(-1)]
  // Of fewer the columns are told by their text.
  if (xs.length < 3) return xs
  const before = horizontal.filter(({ from }) => from < left - narrowestColumn)
  const behind = horizontal.filter(({ to }) => to > right + narrowestColumn)
  const areMost = (rules: Rule[]) => rules.length > 2 && rules.length >= horizontal.length * 0.6
  return [
    ...(areMost(before) ? [smallestOf(before.map(({ from }) => from))] : []),
    ...xs,
    ...(areMost(behind) ? [largestOf(behind.map(({ to }) => to))] : []),
  ]
}

/** The boxes of cells with small gaps between them: their columns are told by their text. */
const widestBetweenCells = 12

/** Whether two frames are columns of one table: side by side, with the same rows. */
function areOfOneTable(one: Frame, other: Frame): boolean {
  const gap = Math.max((other.xs[0] ?? 0) - (one.xs.at(-1) ?? 0), (one.xs[0] ?? 0) - (other.xs.at(-1) ?? 0))
  if (gap < -near || gap > widestBetweenCells) return false
  const common = one.ys.filter((y) => other.ys.some((at) => Math.abs(at - y) < near)).length
  return common > 2 && common >= 0.7 * Math.min(one.ys.length, other.ys.length)
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
  const inside = wordsByCell(words, xs, ys)
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
      const own: number[] = []
      for (let y = line; y < line + height; y++)
        for (let x = column; x < column + width; x++) {
          taken.add(y * columns + x)
          addAll(own, inside.get(y * columns + x) ?? [])
        }
      const ordered = own.length > 1 ? own.toSorted((a, b) => a - b) : own
      row.push({ text: textOf(ordered.flatMap((index) => words[index] ?? [])), columns: width, rows: height })
    }
    rows.push(row)
  }
  return rows
}

/** The places of the words of each smallest cell, in the list of words. */
function wordsByCell(words: Word[], xs: number[], ys: number[]): Map<number, number[]> {
  const cells = new Map<number, number[]>()
  for (const [index, { left, right, base, size }] of words.entries()) {
    const column = xs.findLastIndex((x) => x <= (left + right) / 2)
    const line = ys.findLastIndex((y) => y <= base - 0.3 * size)
    if (column < 0 || line < 0 || column >= xs.length - 1 || line >= ys.length - 1) continue
    const cell = line * (xs.length - 1) + column
    const known = cells.get(cell)
    if (known) known.push(index)
    else cells.set(cell, [index])
  }
  return cells
}
