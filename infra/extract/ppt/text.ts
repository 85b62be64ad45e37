import type { OfficeRecord } from '../ole/records.ts'
import { type Raised, raisedMarks } from '../raised-text.ts'
import { symbolOf } from '../symbol-font.ts'
import { kinds } from './kinds.ts'

/** A text of a slide. */
export interface PptText {
  /** What it is for: 0 and 6 are titles. */
  use: number
  paragraphs: string[]
}

/** Signs that stand for the number of the slide, a date, or the header and footer. */
const fields = new Set([0x0f_d8, 0x0f_f7, 0x0f_f8, 0x0f_f9, 0x0f_fa, 0x10_15])

/** The texts in a list of records; each begins with a head that says what it is for. `fonts`: their names. */
export function readTexts(records: Iterable<OfficeRecord>, fonts: string[]): PptText[] {
  const texts: PptText[] = []
  let open: { use: number; text: string; hidden: Set<number>; runs: LetterRun[] } | undefined
  const close = () => {
    if (open) texts.push({ use: open.use, paragraphs: paragraphsOf(open.text, open.hidden, open.runs, fonts) })
    open = undefined
  }
  for (const { kind, data } of records) {
    if (kind === kinds.textHead) {
      close()
      open = { use: data.length >= 4 ? data.readUInt32LE(0) : 4, text: '', hidden: new Set(), runs: [] }
    } else if (open === undefined) continue
    else if (kind === kinds.wideText) open.text = data.toString('utf16le')
    else if (kind === kinds.narrowText) open.text = data.toString('latin1')
    else if (kind === kinds.textStyle) open.runs = letterRuns(data, open.text.length)
    else if (fields.has(kind) && data.length >= 4) open.hidden.add(data.readUInt32LE(0))
  }
  close()
  return texts
}

/** A part of a text whose letters are raised, or signs of a font. */
interface LetterRun {
  start: number
  end: number
  raised: Raised | undefined
  font: number | undefined
}

function paragraphsOf(text: string, hidden: Set<number>, runs: LetterRun[], fonts: string[]): string[] {
  const shown = (start: number, end: number, font: number | undefined) => {
    const given = text.slice(start, end)
    const visible =
      hidden.size === 0
        ? given
        : given
            .split('')
            .filter((_, index) => !hidden.has(start + index))
            .join('')
    return visible.replace(/[\uf020-\uf0ff]/g, (sign) =>
      symbolOf(sign.charCodeAt(0), font === undefined ? undefined : fonts[font]),
    )
  }
  let marked = ''
  let at = 0
  for (const { start, end, raised, font } of runs) {
    const [begin, finish] = raised === undefined ? ['', ''] : raisedMarks[raised]
    marked += shown(at, start, undefined) + begin + shown(start, end, font) + finish
    at = end
  }
  return (marked + shown(at, text.length, undefined)).split('\r')
}

const maxRuns = 50_000
/** What stands before the position of letters, by the bits that say so: flags, fonts, size and colour. */
const beforePosition: [bits: number, size: number][] = [
  [0xff_ff, 2],
  [0x1_00_00, 2],
  [0x20_00_00, 2],
  [0x40_00_00, 2],
  [0x80_00_00, 2],
  [0x2_00_00, 2],
  [0x4_00_00, 4],
]
const ofLetters = 0x1_00_00
const ofSigns = 0x80_00_00
const position = 0x8_00_00

/** The parts of a text whose letters say more than their code ([MS-PPT] 2.9.44). */
function letterRuns(data: Buffer, length: number): LetterRun[] {
  const runs: LetterRun[] = []
  const afterParagraphs = skipParagraphs(data, length)
  if (afterParagraphs === undefined) return runs
  let index = 0
  for (let at = afterParagraphs; at + 8 <= data.length && index < length && runs.length < maxRuns;) {
    const end = Math.min(length, index + data.readUInt32LE(at))
    const mask = data.readUInt32LE(at + 4)
    at += 8
    let font: number | undefined
    for (const [bits, size] of beforePosition) {
      if ((mask & bits) === 0) continue
      if ((bits === ofLetters || bits === ofSigns) && at + 2 <= data.length) font = data.readUInt16LE(at)
      at += size
    }
    let height = 0
    if ((mask & position) !== 0 && at + 2 <= data.length) {
      height = data.readInt16LE(at)
      at += 2
    }
    const raised = height === 0 ? undefined : height > 0 ? 'super' : 'sub'
    if (raised !== undefined || font !== undefined) runs.push({ start: index, end, raised, font })
    index = end
  }
  return runs
}

/** Where the properties of paragraphs end: those of letters follow. */
function skipParagraphs(data: Buffer, length: number): number | undefined {
  let index = 0
  let at = 0
  while (index <= length && at + 10 <= data.length) {
    const count = data.readUInt32LE(at)
    const mask = data.readUInt32LE(at + 6)
    index += count
    at += 10
    if (count === 0) return undefined
    const has = (bits: number) => (mask & bits) !== 0
    if (has(0xf)) at += 2
    if (has(0x80)) at += 2
    if (has(0x10)) at += 2
    if (has(0x40)) at += 2
    if (has(0x20)) at += 4
    if (has(0x8_00)) at += 2
    if (has(0x10_00)) at += 2
    if (has(0x20_00)) at += 2
    if (has(0x40_00)) at += 2
    if (has(0x1_00)) at += 2
    if (has(0x4_00)) at += 2
    if (has(0x80_00)) at += 2
    if (has(0x10_00_00)) {
      if (at + 2 > data.length) return undefined
      at += 2 + data.readUInt16LE(at) * 4
    }
    if (has(0x1_00_00)) at += 2
    if (has(0xe_00_00)) at += 2
    if (has(0x20_00_00)) at += 2
  }
  return index > length ? at : undefined
}
