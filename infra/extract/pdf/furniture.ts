import { rowsOf } from './columns.ts'
import type { Segment } from './segments.ts'

/** What a document repeats at the edges of its pages: running heads and numbers of pages. */
interface Furniture {
  note(page: number, segments: Segment[]): void
  /** Without what other pages have at this place. The first page that has a running head keeps it. */
  without(page: number, segments: Segment[], label: string | undefined): Segment[]
}

interface Seen {
  page: number
  base: number
  /** The number at one end of a head. */
  number?: number | undefined
}

/** What stands at the upper or lower edge of a page. `value`: it may be the number of the page. */
interface Edge {
  segment: Segment
  value: number | undefined
  /** Which of the rows at the edge it stands in, and with how many others. */
  row: number
  beside: number
}

/** Rows at the upper and lower edge of a page. */
const edgeRows = 3
/** Pages before and after, with which one is compared. */
const nearPages = 12
const mostDistance = 6
/** Of head and foot, in up to two parts each. */
const mostDropped = 4
const maxKeys = 20_000

export function createFurniture(pages: number): Furniture {
  const heads = new Map<string, { first: number; seen: Seen[] }>()
  const numbers: (Seen & { value: number })[] = []
  /** Of the pages that wait for the next ones. */
  const edges = new Map<number, Edge[]>()

  function isRunning({ key, number }: Head, page: number, base: number): boolean {
    const head = heads.get(key)
    if (head === undefined || head.first === page) return false
    // `Chapter 2` runs on, `2023 | 17` counts pages; `Article 17` in a table does neither.
    const isSame = (one: Seen) =>
      one.number === number ||
      (one.number !== undefined && number !== undefined && one.number - one.page === number - page)
    const others = new Set(
      head.seen
        .filter((one) => isNear(one, page) && isSame(one) && Math.abs(one.base - base) <= mostDistance)
        .map((one) => one.page),
    )
    return others.size >= (pages <= 4 ? 2 : 3)
  }

  function isNumber({ segment: { text, base }, value }: Edge, page: number, label: string | undefined): boolean {
    if (value === undefined) return false
    // `- 2 -` on the second page.
    if (text === label || (value === page && /^[-–—]\s*\d+\s*[-–—]$/.test(text))) return true
    const others = new Set<number>()
    for (const one of numbers)
      if (
        one.page !== page &&
        isNear(one, page) &&
        one.value - one.page === value - page &&
        Math.abs(one.base - base) <= mostDistance
      )
        others.add(one.page)
    // Figures of a table can grow from one page to the next by chance.
    return others.size >= (pages <= 4 ? 1 : 2)
  }

  return {
    note(page, segments) {
      const own = edgesOf(segments)
      edges.set(page, own)
      for (const {
        segment: { text, base },
        value,
      } of own) {
        if (value !== undefined) numbers.push({ page, base, value })
        const own = headOf(text)
        if (own === undefined || heads.size > maxKeys) continue
        const { key, number } = own
        const head = heads.get(key)
        if (head === undefined) heads.set(key, { first: page, seen: [{ page, base, number }] })
        else {
          head.seen.push({ page, base, number })
          forgetOld(head.seen, page)
        }
      }
      forgetOld(numbers, page)
    },
    without(page, segments, label) {
      const dropped = new Set<Segment>()
      const own = edges.get(page) ?? []
      edges.delete(page)
      for (const edge of own) {
        const { segment } = edge
        const head = headOf(segment.text)
        const isHead = head !== undefined && isRunning(head, page, segment.base)
        if (isHead || isNumber(edge, page, label)) dropped.add(segment)
      }
      // A row of a table may have what the rows at this place of other pages have.
      for (const { segment, row, beside } of own) {
        const isWhole = own.every((other) => other.row !== row || dropped.has(other.segment))
        if (beside >= mostBeside && !isWhole) dropped.delete(segment)
      }
      const rest = dropped.size === 0 ? segments : segments.filter((segment) => !dropped.has(segment))
      // Pages that are alike, such as forms, consist of what they repeat.
      return dropped.size > mostDropped && lettersIn(rest) * 2 < lettersIn(segments) ? segments : rest
    },
  }
}

/** Earlier ones are not compared any more. */
function forgetOld(seen: Seen[], page: number): void {
  while ((seen[0]?.page ?? Infinity) < page - 3 * nearPages) seen.shift()
}

const lettersIn = (segments: Segment[]): number => segments.reduce((sum, { text }) => sum + text.length, 0)

const isNear = (one: Seen, page: number): boolean => Math.abs(one.page - page) <= nearPages

/** A head has two parts, or three, of which each runs on or counts pages. */
const mostBeside = 2

/** A row with more numbers is one of a table. */
const mostNumbers = 2

function edgesOf(segments: Segment[]): Edge[] {
  const rows = rowsOf(segments.filter(({ table }) => !table))
  const outer =
    rows.length <= 2 * edgeRows
      ? [...rows.slice(0, 1), ...rows.slice(1).slice(-1)]
      : [...rows.slice(0, edgeRows), ...rows.slice(-edgeRows)]
  return outer.flatMap((row, index) => {
    const place = { row: index, beside: row.length - 1 }
    const edges = row.map((segment): Edge => ({ segment, value: numberIn(segment.text), ...place }))
    const isOfTable = edges.filter(({ value }) => value !== undefined).length > mostNumbers
    return isOfTable ? row.map((segment) => ({ segment, value: undefined, ...place })) : edges
  })
}

interface Head {
  key: string
  /** The number at one end. */
  number: number | undefined
}

/** Without the number at one end. Undefined for what has too few letters to be a head. */
function headOf(text: string): Head | undefined {
  if (text.length > 200) return undefined
  const named = text.replace(/\b(page|seite|p\.|s\.)\s*\d{1,4}(\s*(of|von|\/)\s*\d{1,4})?/i, '#')
  const found = /^(\d{1,4})\s*[|·–-]?\s+|\s+[|·–-]?\s*(\d{1,4})$/.exec(named)
  const key = found === null ? named.trim() : named.replace(found[0], '').trim()
  const number = found === null ? undefined : Number(found[1] ?? found[2])
  return (key.match(/\p{L}/gu)?.length ?? 0) >= 3 || /^\W*#\W*$/.test(key) ? { key, number } : undefined
}

/** The value of `17`, `- 17 -`, `Page 17 of 90`, `xvii`. */
function numberIn(text: string): number | undefined {
  const found =
    /^[-–—|[\s]*(?:page|seite|p\.|s\.)?\s*(\d{1,4}|[ivxlc]{1,8})(?:\s*(?:of|von|\/)\s*\d{1,4})?[-–—|\]\s]*$/i.exec(
      text.slice(0, 60),
    )?.[1]
  if (found === undefined) return undefined
  return /^\d/.test(found) ? Number(found) : romanValue(found.toLowerCase())
}

const romanDigits = new Map('ivxlc'.split('').map((digit, index) => [digit, [1, 5, 10, 50, 100][index] ?? 0]))

function romanValue(digits: string): number {
  const values = digits.split('').map((digit) => romanDigits.get(digit) ?? 0)
  return values.reduce((sum, value, index) => sum + (value < (values[index + 1] ?? 0) ? -value : value), 0)
}
