import { largestOf, smallestOf } from '../../../domain/extremes.ts'
import { isFigure, type Segment } from './segments.ts'

export interface Gap {
  left: number
  right: number
}

/** Where segments leave a stripe from top to bottom free, wider than the space between words. */
export function gapsOf(segments: Segment[]): Gap[] {
  const gaps: Gap[] = []
  let end = -Infinity
  for (const { left, right, size } of segments.toSorted((a, b) => a.left - b.left)) {
    if (end > -Infinity && left - end >= narrowestGap * size) gaps.push({ left: end, right: left })
    end = Math.max(end, right)
  }
  return gaps
}

/** In sizes of letters. */
const narrowestGap = 0.6

/** Segments on one base line. */
export function rowsOf(segments: Segment[]): Segment[][] {
  const rows: Segment[][] = []
  let base = -Infinity
  for (const segment of segments.toSorted((a, b) => a.base - b.base)) {
    const row = rows.at(-1)
    if (row === undefined || segment.base - base > 0.45 * segment.size) rows.push([segment])
    else row.push(segment)
    base = segment.base
  }
  return rows.map((row) => row.toSorted((a, b) => a.left - b.left))
}

/** Whether text to both sides of a gap is read one side after the other. */
export function areColumns(left: Segment[], right: Segment[]): boolean {
  if (left.some(({ field }) => field) || right.some(({ field }) => field)) return false
  if (isProse(left) && isProse(right)) return true
  return left.length > 2 && right.length > 2 && !standSideBySide(left, right)
}

/** Lines that go on in the next one. Cells of a table rarely do, and in few of its columns. */
function isProse(segments: Segment[]): boolean {
  const lines = rowsOf(segments)
  if (lines.length < 3) return false
  const { length } = segments
  const characters = segments.reduce((sum, { text }) => sum + text.length, 0) / length
  const words = segments.reduce((sum, segment) => sum + segment.words, 0) / length
  const figures = segments.filter(({ text }) => isFigure(text)).length
  const goingOn = segments.filter(({ text }) => /^[\p{Ll}\p{Lo}]/u.test(text)).length
  const isOfWords = words >= 2.5 || /\p{Lo}/u.test(segments[0]?.text ?? '')
  return isOfWords && characters >= 14 && figures < length * 0.2 && goingOn >= length * 0.25
}

/** Whether most lines of the shorter side have one beside them, as rows of a table do. */
function standSideBySide(left: Segment[], right: Segment[]): boolean {
  const [few, many] = left.length < right.length ? [left, right] : [right, left]
  const bases = many.map(({ base }) => base).toSorted((a, b) => a - b)
  const beside = few.filter(({ base, size }) => hasNear(bases, base, 0.3 * size)).length
  return beside >= few.length * 0.6
}

function hasNear(sorted: number[], value: number, tolerance: number): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < value - tolerance) low = middle + 1
    else high = middle
  }
  return (sorted[low] ?? Infinity) <= value + tolerance
}

/** Wider regions are measured more coarsely. */
const maxSteps = 2000

/** The gaps between columns of a table; a few of its rows may cross one. */
export function tableGaps(segments: Segment[], rows: number): Gap[] {
  const begin = smallestOf(segments.map(({ left }) => left))
  const end = largestOf(segments.map(({ right }) => right))
  const step = Math.max(1, (end - begin) / maxSteps)
  const covered = new Uint16Array(Math.ceil((end - begin) / step) + 1)
  for (const { left, right } of segments) {
    const last = Math.max(left, right - 0.5)
    for (let at = Math.floor((left - begin) / step); at <= Math.floor((last - begin) / step); at++)
      covered[at] = Math.min(65_000, (covered[at] ?? 0) + 1)
  }
  const allowed = Math.floor(rows * 0.15)
  const size = middle(segments.map((segment) => segment.size))
  const gaps: Gap[] = []
  let from = -1
  for (const [at, count] of covered.entries()) {
    if (count <= allowed) {
      if (from < 0) from = at
      continue
    }
    if (from > 0 && (at - from) * step >= narrowestGap * size - step)
      gaps.push({ left: begin + from * step, right: begin + at * step })
    from = -1
  }
  return gaps
}

export function middle(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}
