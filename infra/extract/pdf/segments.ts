import { createColumnEdges } from './column-edges.ts'
import type { GridTable } from './grid.ts'
import { isRightToLeft, type Word, withBrackets } from './words.ts'

/** Words that stand side by side, or a ruled table, as a box on the page. */
export interface Segment {
  text: string
  words: number
  left: number
  right: number
  top: number
  bottom: number
  base: number
  size: number
  isBold: boolean
  field?: 'value' | 'mark'
  table?: GridTable
}

/** In sizes of letters: a wider gap between words may lie between two columns. */
const widestSpace = 1
/** Numbers of two columns can stand close together. */
const widestSpaceOfNumbers = 0.6
/** Marks of footnotes stand above their line. */
const baseTolerance = 0.4

/** The words of each line, together as far as only spaces lie between them. */
export function segmentsOf(words: Word[]): Segment[] {
  const segments: Word[][] = []
  const lines = linesOf(words)
  const isEdge = createColumnEdges(lines, isFigure)
  for (const line of lines) {
    let open: Word[] = []
    for (const word of line) {
      const before = open.at(-1)
      if (before !== undefined && (!isNear(before, word) || isEdge(before, word))) {
        segments.push(open)
        open = []
      }
      open.push(word)
    }
    if (open.length > 0) segments.push(open)
  }
  return withSigns(segments.map(toSegment))
}

/** A number whose signs stand a little apart, as one. */
const withoutGaps = (text: string): string =>
  text.length < 40 && /^[A-Z]{0,3}\p{Sc}? ?[-–(]?[\d.,]+ ?\)? ?%?$/u.test(text) && /[)%\p{Sc}]/u.test(text)
    ? text.replaceAll(' ', '')
    : text

/** In sizes of letters: reports put the sign of a currency at the left of a column and its number at the right. */
const widestBeforeNumber = 12
const widestBehindNumber = 1.5

/** Signs of currencies that stand apart before their number, and brackets and signs of percent behind it. */
function withSigns(segments: Segment[]): Segment[] {
  const joined: Segment[] = []
  for (const segment of segments) {
    const before = joined.at(-1)
    const isOnLine =
      before !== undefined && Math.abs(before.base - segment.base) <= baseTolerance * segment.size && !segment.field
    const gap = before === undefined ? 0 : (segment.left - before.right) / segment.size
    const isBefore =
      isOnLine && currency.test(before.text) && /^[(-]?[\d.,]+/.test(segment.text) && gap < widestBeforeNumber
    const isBehind =
      isOnLine && /^(?:\)|%|\)\s*%|%\s*\))$/.test(segment.text) && isFigure(before.text) && gap < widestBehindNumber
    if (before === undefined || before.field || gap < 0 || !(isBefore || isBehind)) joined.push(segment)
    else
      joined[joined.length - 1] = {
        ...before,
        text: `${before.text}${segment.text.replace(/\s+/g, '')}`,
        words: before.words + segment.words,
        // The sign at the left of a column may stand below the name of the column before.
        left: isBefore && gap > widestSpace ? segment.left : before.left,
        right: segment.right,
        top: Math.min(before.top, segment.top),
        bottom: Math.max(before.bottom, segment.bottom),
        isBold: segment.isBold,
      }
  }
  return joined
}

const currency = /^(?:[A-Z]{0,3}\p{Sc})$/u

function isNear(before: Word, word: Word): boolean {
  const size = Math.max(before.size, word.size)
  const gap = word.left - before.right
  if (gap > widestSpace * size || before.field !== undefined || word.field !== undefined) return false
  if (Math.abs(before.base - word.base) > baseTolerance * size) return false
  return gap <= widestSpaceOfNumbers * size || !isFigure(before.text) || !isFigure(word.text)
}

export const isFigure = (text: string): boolean =>
  /^[-–+(]?[\p{Sc}]?[-–(]?[\d.,'’%\u2009]+[)%]{0,2}$|^[-–—]$/u.test(text)

/** Words on one base line, from left to right. */
function linesOf(words: Word[]): Word[][] {
  const lines: Word[][] = []
  let line: Word[] = []
  let base = 0
  for (const word of words.toSorted((a, b) => a.base - b.base)) {
    if (line.length > 0 && word.base - base > baseTolerance * 0.6 * Math.max(word.size, line[0]?.size ?? 0)) {
      lines.push(line)
      line = []
    }
    if (line.length === 0 || word.size > (line[0]?.size ?? 0) * 0.8) base = word.base
    line.push(word)
  }
  if (line.length > 0) lines.push(line)
  return lines.map((one) => one.toSorted((a, b) => a.left - b.left))
}

function toSegment(words: Word[]): Segment {
  let [left, right, letters, bold] = [Infinity, -Infinity, 0, 0]
  let largest = words[0]
  for (const word of words) {
    left = Math.min(left, word.left)
    right = Math.max(right, word.right)
    letters += word.text.length
    if (word.isBold) bold += word.text.length
    if (largest === undefined || word.size > largest.size * 1.05) largest = word
  }
  const { base = 0, size = 1, field } = largest ?? {}
  return {
    text: withoutGaps(textOf(words)),
    words: words.length,
    left,
    right,
    base,
    top: base - 0.75 * size,
    bottom: base + 0.2 * size,
    size,
    isBold: bold > letters / 2,
    ...(field === undefined ? {} : { field }),
  }
}

/** The words of one line in reading order: those of right-to-left scripts from the right, with what they enclose. */
function textOf(words: Word[]): string {
  const rights = words.filter(({ text }) => isRightToLeft(text)).length
  if (rights === 0) return joined(words)
  const isLineFromRight = rights * 2 >= words.filter(({ text }) => /\p{L}/u.test(text)).length
  const runs: { isFromRight: boolean; words: Word[] }[] = []
  for (const word of words) {
    const isFromRight = isRightToLeft(word.text) || (isLineFromRight && !/\p{L}/u.test(word.text))
    const run = runs.at(-1)
    if (run?.isFromRight === isFromRight) run.words.push(word)
    else runs.push({ isFromRight, words: [word] })
  }
  const ordered = isLineFromRight ? runs.toReversed() : runs
  const text = ordered.map((run) => joined(run.isFromRight ? run.words.toReversed() : run.words)).join(' ')
  return isLineFromRight ? withBrackets(text) : text
}

/** A part of a word in another font stands close to the rest of it. */
function joined(words: Word[]): string {
  let text = ''
  let before: Word | undefined
  for (const word of words) {
    const gap = before === undefined ? 0 : Math.max(word.left - before.right, before.left - word.right)
    text += before === undefined || gap < 0.08 * word.size ? word.text : ` ${word.text}`
    before = word
  }
  // The dots that lead to the number of a page.
  return text.includes('. .') || text.includes('....') ? text.replace(/(?:\s?\.){4,}\s*/g, ' … ').trim() : text
}
