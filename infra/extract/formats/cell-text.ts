import { type CellObject, utils } from '@e965/xlsx'
import { type Raised, raisedMarks, withRaised } from '../raised-text.ts'
import { attribute, createXmlReader } from '../word/xml.ts'

/** What a cell says: values as they are stored, dates as ISO 8601. */
export function textOfCell(cell: CellObject, date1904: boolean): string {
  return [valueOf(cell, date1904), ...commentsOf(cell)].join(' ').trim()
}

function valueOf(cell: CellObject, date1904: boolean): string {
  if (cell.t === 'z') return cell.f === undefined ? '' : `=${cell.f} (formula, its value is not stored)`
  if (cell.t === 'e') return ''
  if (cell.t === 's') return raisedText(cell.r) ?? String(cell.v)
  if (cell.t !== 'n' || typeof cell.v !== 'number') return shown(cell)
  const format = typeof cell.z === 'string' ? cell.z : 'General'
  if (isDateFormat(format)) return isoOf(cell.v, format, date1904) ?? shown(cell)
  // As shown, except where the cell shows less than it holds: 4.00638E+12.
  if (/^general$/i.test(format) || /E[+-]/i.test(format)) return plainNumber(cell.v)
  const asShown = shown(cell).trim()
  if (asShown === '') return plainNumber(cell.v)
  const read = readFormat(format)
  return read.isScaled ? `${plainNumber(cell.v)} (${asShown})` : exactText(cell.v, read, asShown)
}

/** The text of runs of letters of which some are raised or lowered; undefined of other cells. `rich`: as it is stored. */
function raisedText(rich: unknown): string | undefined {
  if (typeof rich !== 'string' || !rich.includes('vertAlign')) return undefined
  let text = ''
  let raised: Raised | undefined
  let isText = false
  let readings = 0
  const tagOf = (name: string) => name.slice(name.indexOf(':') + 1)
  const reader = createXmlReader({
    open(name, attributes) {
      const tag = tagOf(name)
      if (readings > 0 || tag === 'rPh') readings++
      else if (tag === 'r') raised = undefined
      else if (tag === 'vertAlign') {
        const value = attributes['val'] ?? attribute(attributes, 'val')
        raised = value === 'superscript' ? 'super' : value === 'subscript' ? 'sub' : undefined
      } else if (tag === 't') {
        isText = true
        if (raised !== undefined) text += raisedMarks[raised][0]
      }
    },
    close(name) {
      if (readings > 0) {
        readings--
        return
      }
      if (tagOf(name) !== 't') return
      isText = false
      if (raised !== undefined) text += raisedMarks[raised][1]
    },
    text(piece) {
      if (isText) text += piece
    },
  })
  reader.write(`<si>${rich}</si>`)
  reader.end()
  return withRaised(text)
}

const shown = (cell: CellObject): string => cell.w ?? utils.format_cell(cell)

/** The fifteen digits that spreadsheets compute with, without an exponent. */
function plainNumber(value: number): string {
  const rounded = Number(value.toPrecision(15))
  if (Number.isSafeInteger(rounded)) return String(rounded)
  return rounded.toLocaleString('en-US', { useGrouping: false, maximumSignificantDigits: 15 })
}

/** Whether a number format shows a date or a time: `d.m.yy`, and not `0.00 "days"`. */
function isDateFormat(format: string): boolean {
  const shown = (format.split(';')[0] ?? '').replace(/"[^"]*"|\\.|\[[^\]]*\]|[_*]./g, '').replace(/s\.0+/gi, 's')
  return /[dmyhs]/i.test(shown) && !/[0#?@]|general/i.test(shown)
}

const dayMs = 86_400_000

/** Undefined for a length of time (`[h]:mm`), and for what is no date. */
function isoOf(value: number, format: string, date1904: boolean): string | undefined {
  if (/\[[hms]+\]/i.test(format) || value < 0) return undefined
  // Day 1 is the first of January 1900; a day 60, the 29th of February of that year, never was.
  const dayZero = date1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, value < 60 ? 31 : 30)
  const at = new Date(dayZero + Math.round(value * 86_400) * 1000)
  if (Number.isNaN(at.getTime()) || at.getUTCFullYear() > 9999) return undefined
  const iso = at.toISOString()
  const time = iso.slice(11, 19).replace(/:00$/, '')
  if (value < 1) return time
  return at.getTime() % dayMs === 0 ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${time}`
}

function commentsOf({ c: comments = [] }: CellObject): string[] {
  return comments
    .map(({ t: text, a: author }) =>
      author !== undefined && text.startsWith(`${author}:`) ? text.slice(author.length + 1) : text,
    )
    .map((text) => text.replace(/\s+/g, ' ').trim())
    .filter((text) => text !== '')
    .map((text) => `(comment: ${text})`)
}

/** Decimals that somebody has typed; more are what a computation leaves. */
const typedDecimals = 6
/** Decimals of a computed value that shows fewer. */
const computedDecimals = 2

/** A part of a format that says no digit; and the digits of a number, with their decimals. */
const formatParts = /"[^"]*"|\\.|\[[^\]]*\]|[_*].|[0#?][0#?,]*(\.[0#?]*)?,*/g

interface Format {
  /** The digits of its first part. */
  decimals: number | undefined
  isGrouped: boolean
  /** It counts in thousands or millions. */
  isScaled: boolean
  isPercent: boolean
  /** Fractions, and numbers in several parts, such as those of telephones. */
  isOfParts: boolean
}

/** A workbook has few formats for many cells. */
const known = new Map<string, Format>()
const mostKnown = 1000

function readFormat(format: string): Format {
  const found = known.get(format)
  if (found !== undefined) return found
  const places = [...format.matchAll(formatParts)].filter(([text]) => /^[0#?]/.test(text))
  const bare = format.replace(formatParts, '')
  const [place] = places
  const read = {
    decimals: place === undefined ? undefined : Math.max(0, (place[1]?.length ?? 1) - 1),
    isGrouped: place?.[0].includes(',') === true,
    isScaled: places.some(([text]) => text.endsWith(',')),
    isPercent: bare.includes('%'),
    isOfParts: /[/E]/.test(bare),
  }
  if (known.size < mostKnown) known.set(format, read)
  return read
}

/**
 * A number whose format shows less than is stored, with all of its digits: `0%` of 0.0725 would be 7%. `shown`: what the
 * format shows, which stays where nothing is lost.
 */
function exactText(value: number, format: Format, shown: string): string {
  if (format.decimals === undefined || format.isScaled || format.isOfParts) return shown
  const exact = format.isPercent ? value * 100 : value
  const stored = Number.isInteger(exact) ? 0 : decimalsOf(exact)
  const decimals = stored > typedDecimals ? Math.max(format.decimals, computedDecimals) : stored
  if (decimals <= format.decimals) return shown
  const digits = shown.match(/\d[\d,]*(?:\.\d+)?/g) ?? []
  if (digits.length !== 1) return shown
  const number = Math.abs(exact).toLocaleString('en-US', {
    useGrouping: format.isGrouped,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })
  const sign = value < 0 && !/[-(]/.test(shown) ? '-' : ''
  return shown.replace(digits[0] ?? '', `${sign}${number}`)
}

/** Of the fifteen digits that spreadsheets compute with. */
function decimalsOf(value: number): number {
  const text = String(Number(value.toPrecision(15)))
  if (text.includes('e')) return typedDecimals + 1
  return text.split('.')[1]?.length ?? 0
}
