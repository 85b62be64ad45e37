import { addAll } from '../../domain/add-all.ts'
import type { Block } from '../../domain/chunking/block.ts'
import { largestOf } from '../../domain/extremes.ts'
import { isName } from './table-header.ts'
import { createTableWriter } from './table-rows.ts'

/** Longer lines are prose. */
const longestLine = 400
/** A header and two rows: fewer are aligned by chance. */
const leastLines = 3
/** In characters: one space stands between words. */
const narrowestGap = 2

/** A text with its tables, whose columns are aligned by spaces or parted by tabs, as rows with their header. */
export function blocksOfText(text: string): Block[] {
  const blocks: Block[] = []
  let open: string[] = []
  let other: string[] = []

  function endOther(): void {
    if (other.some((line) => line.trim() !== '')) blocks.push({ kind: 'text', text: other.join('\n') })
    other = []
  }

  function endParagraph(): void {
    // A line above a table may stand without an empty one between them.
    const from = open.findIndex(hasGap)
    const to = open.findLastIndex(hasGap) + 1
    const rows = from < 0 ? undefined : rowsOf(open.slice(from, to))
    if (rows === undefined) addAll(other, open)
    else {
      addAll(other, open.slice(0, from))
      endOther()
      const writer = createTableWriter({ isInText: true, hasHeader: true })
      for (const row of rows) addAll(blocks, writer.row(row))
      addAll(blocks, writer.end())
      other = open.slice(to)
    }
    open = []
  }

  for (const line of text.split('\n')) {
    if (line.trim() !== '') {
      open.push(line)
      continue
    }
    endParagraph()
    other.push(line)
  }
  endParagraph()
  endOther()
  return blocks.length > 1 || text === '' ? blocks : [{ kind: 'text', text }]
}

const hasGap = (line: string): boolean => line.length <= longestLine && /\S(?: {2}| *\t)\s*\S/.test(line)

/** The rows of a table; undefined if the lines are none: names above a column of figures, or above a line, make one. */
function rowsOf(lines: string[]): string[][] | undefined {
  const rule = lines.findIndex(isRule)
  const written = lines.filter((line) => !isRule(line))
  if (written.length < leastLines || written.some((line) => line.length > longestLine)) return undefined
  const rows = byTabs(written) ?? bySpaces(written)
  const [head, ...below] = rows ?? []
  if (head === undefined || head.length < 2 || head.filter((cell) => cell !== '').length < head.length - 1)
    return undefined
  const areNames =
    !head.some((name) => name.endsWith(':')) &&
    head.slice(1).every((name) => name === '' || isName(name) || /^(?:19|20)\d\d$/.test(name))
  if (!areNames) return undefined
  const ofFigures = head.some((name, column) => {
    const values = below.map((row) => row[column] ?? '').filter((value) => value !== '')
    return column > 0 && name !== '' && values.length * 2 > below.length && !values.some(isName)
  })
  return rule === 1 || ofFigures ? rows : undefined
}

/** A line of dashes, as stands below a header. */
const isRule = (line: string): boolean => /^[-=+|\s]{3,}$/.test(line) && /[-=]{3}/.test(line)

function byTabs(lines: string[]): string[][] | undefined {
  const rows = lines.map((line) => line.split('\t').map((cell) => cell.trim()))
  const width = rows[0]?.length ?? 0
  return width > 1 && rows.every((row) => row.length === width) ? rows : undefined
}

function bySpaces(given: string[]): string[][] {
  const lines = given.map(withoutTabs)
  const width = largestOf(lines.map((line) => line.length))
  const starts: number[] = []
  let empty = narrowestGap
  for (let at = 0; at < width; at++) {
    if (lines.every((line) => (line[at] ?? ' ') === ' ')) empty++
    else {
      if (empty >= narrowestGap) starts.push(at)
      empty = 0
    }
  }
  return lines.map((line) => starts.map((start, index) => line.slice(start, starts[index + 1]).trim()))
}

const tabWidth = 8

function withoutTabs(line: string): string {
  let shown = ''
  for (const [index, part] of line.split('\t').entries())
    shown += index === 0 ? part : `${' '.repeat(tabWidth - (shown.length % tabWidth))}${part}`
  return shown
}
