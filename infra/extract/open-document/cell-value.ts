import type { Attributes } from '../word/xml.ts'

/** What a cell says: its value as it is stored, with its unit; `shown` is the text that the program made of it. */
export function valueOf(attributes: Attributes, shown: string): string {
  const kind = attributes['office:value-type'] ?? attributes['calcext:value-type']
  const value = attributes['office:value']
  if (kind === 'error' || isError.test(shown)) return ''
  if (kind === 'float' && value !== undefined) return plain(value) ?? shown
  if (kind === 'percentage' && value !== undefined) {
    const percent = Number(value) * 100
    return Number.isFinite(percent) ? `${plain(String(percent))}%` : shown
  }
  if (kind === 'currency' && value !== undefined) return amountOf(value, attributes['office:currency']) ?? shown
  if (kind === 'date') return dateOf(attributes['office:date-value']) ?? shown
  if (kind === 'time') return timeOf(attributes['office:time-value']) ?? shown
  if (kind === 'boolean' && shown === '') return (attributes['office:boolean-value'] ?? '').toUpperCase()
  const formula = attributes['table:formula']
  if (formula !== undefined && shown === '' && value === undefined)
    return `${formula.slice(0, longestFormula).replace(/^\w+:/, '')} (formula, its value is not stored)`
  return shown
}

const isError = /^(#(N\/A|REF!|DIV\/0!|VALUE!|NAME\?|NUM!|NULL!)|Err:\d{3})$/
const longestFormula = 1000

/** The fifteen digits that spreadsheets compute with, without an exponent. */
function plain(value: string): string | undefined {
  const number = Number(value)
  if (value.trim() === '' || !Number.isFinite(number)) return undefined
  const rounded = Number(number.toPrecision(15))
  if (Number.isSafeInteger(rounded)) return String(rounded)
  return rounded.toLocaleString('en-US', { useGrouping: false, maximumSignificantDigits: 15 })
}

/** Amounts of money have at least two decimals, or none. */
function amountOf(value: string, currency: string | undefined): string | undefined {
  const number = plain(value)
  if (number === undefined) return undefined
  const shown = /\.\d$/.test(number) ? `${number}0` : number
  return currency === undefined || currency === '' ? shown : `${shown} ${currency.slice(0, 10)}`
}

/** `2025-03-04T12:30:00` as `2025-03-04 12:30`. */
function dateOf(value: string | undefined): string | undefined {
  const [, day, time = ''] = /^(-?\d{4,6}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?))?/.exec(value ?? '') ?? []
  if (day === undefined) return undefined
  return /^(00:00(:00)?)?$/.test(time) ? day : `${day} ${time.replace(/:00$/, '').padEnd(5, ':00')}`
}

/** `PT26H30M00S` as `26:30`. */
function timeOf(value: string | undefined): string | undefined {
  const [, hours, minutes, seconds] = /^PT(\d{1,6})H(\d\d?)M(\d\d?)(?:[.,]\d+)?S$/.exec(value ?? '') ?? []
  if (hours === undefined || minutes === undefined || seconds === undefined) return undefined
  const parts = [hours.padStart(2, '0'), minutes.padStart(2, '0'), seconds.padStart(2, '0')]
  return parts.join(':').replace(/(:\d\d):00$/, '$1')
}
