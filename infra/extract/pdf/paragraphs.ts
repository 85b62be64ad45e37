import { largestOf, smallestOf } from '../../../domain/extremes.ts'
import { middle } from './columns.ts'
import { type KnownWords, joinLines } from './hyphens.ts'
import type { Line } from './layout.ts'
import type { OutlineEntry } from './pdfium.ts'

type TextPart = { kind: 'heading'; level: number; text: string } | { kind: 'text'; text: string }

export interface TextContext {
  /** The size of the letters of the document's text. */
  bodySize: number
  known: KnownWords
  /** Headings of this page, by the document's own table of contents; those that are found are taken out. */
  outline: OutlineEntry[]
}

/** Lines of a column as headings and paragraphs. */
export function paragraphsOf(lines: Line[], context: TextContext): TextPart[] {
  const parts: TextPart[] = []
  const column = measure(lines)
  let before: Line | undefined
  for (const [index, line] of lines.entries()) {
    const open = parts.at(-1)
    const level = headingLevel(line, before, lines[index + 1], context)
    const isBelow = before !== undefined && line.base - before.base < 1.45 * line.size
    if (level !== undefined) {
      const isSame = open?.kind === 'heading' && open.level === level && isBelow && !/^\d/.test(line.text)
      if (isSame && open.text.length < 200) open.text = joinLines(open.text, line.text, context.known)
      else parts.push({ kind: 'heading', level, text: line.text })
    } else if (open?.kind !== 'text' || before === undefined || endsParagraph(before, line, column))
      parts.push({ kind: 'text', text: line.text })
    else if (isBroken(before, line, column)) open.text += `\n${line.text}`
    else open.text = joinLines(open.text, line.text, context.known)
    before = line
  }
  return parts
}

interface Column {
  left: number
  right: number
  /** From one line to the next. */
  pitch: number
}

function measure(lines: Line[]): Column {
  const pitches = lines.slice(1).map((line, index) => line.base - (lines[index]?.base ?? 0))
  return {
    left: smallestOf(lines.map(({ left }) => left)),
    right: largestOf(lines.map(({ right }) => right)),
    pitch: middle(pitches.filter((pitch) => pitch > 0)),
  }
}

const listMark = /^(?:[•·▪◦‣●○■□–—*-]|\(?\d{1,3}[.)]|\(?\p{Ll}[.)])\s/u
const sentenceEnd = /[.!?:;…。！？]["'”’»)\]]*$/

function endsParagraph(before: Line, line: Line, { left, right, pitch }: Column): boolean {
  if (before.hasField === true || line.hasField === true) return true
  if (contentsLine.test(before.text) || contentsLine.test(line.text)) return true
  const step = line.base - before.base
  if (step <= 0 || step > Math.max(1.35 * pitch, 1.2 * line.size)) return true
  if (Math.abs(before.size - line.size) > 0.12 * Math.max(before.size, line.size)) return true
  if (listMark.test(line.text)) return true
  if (!sentenceEnd.test(before.text)) return false
  const isShort = before.right < right - 0.15 * (right - left)
  const isIndented = line.left > left + 0.8 * line.size && before.left < left + 0.4 * line.size
  return isShort || isIndented
}

/** Whether a line ends early although the next word had room: an address, a verse, a label with its value. */
function isBroken(before: Line, line: Line, { right }: Column): boolean {
  if (/^[\p{Ll}]/u.test(line.text) || /[-\u00ad\u2010]$/.test(before.text)) return false
  const [word = ''] = line.text.split(' ', 1)
  const width = ((line.right - line.left) / Math.max(1, line.text.length)) * (word.length + 1)
  return before.right + width < right - 0.5 * line.size
}

const longestHeading = 160
/** Of a table of contents or an index. */
const contentsLine = / … \S{1,8}$/

/** Undefined for what is no heading. */
function headingLevel(line: Line, before: Line | undefined, after: Line | undefined, context: TextContext) {
  const { text, size } = line
  if (text.length > longestHeading || contentsLine.test(text)) return undefined
  const listed = takeListed(text, context.outline)
  if (listed !== undefined) return listed
  const ratio = size / context.bodySize
  if (ratio < 1.15 && !line.isBold) return undefined
  if ((text.match(/\p{L}/gu)?.length ?? 0) < 3 || (/[.,;:]$/.test(text) && !/^[\d.]+\s/.test(text))) return undefined
  if (ratio >= 1.15 && text.split(' ').length <= 20) return ratio >= 1.8 ? 1 : ratio >= 1.4 ? 2 : 3
  const isApart = before === undefined || line.isFirst === true || line.base - before.base > 1.5 * size
  const isAbove = after !== undefined && !after.isBold
  return line.isBold && ratio > 0.95 && isApart && isAbove && !listMark.test(text) ? 4 : undefined
}

function takeListed(text: string, outline: OutlineEntry[]): number | undefined {
  if (outline.length === 0) return undefined
  const own = plain(text)
  const at = outline.findIndex(({ title }) => {
    const listed = plain(title)
    return listed !== '' && (own === listed || (own.endsWith(listed) && own.length - listed.length < 8))
  })
  return at < 0 ? undefined : outline.splice(at, 1)[0]?.level
}

const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
