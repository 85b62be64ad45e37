import { locale } from './language.ts'

const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 0 })
const number = new Intl.NumberFormat(locale)
const tenths = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
  useGrouping: false,
})
const units = ['B', 'KB', 'MB', 'GB', 'TB']

export function formatNumber(value: number): string {
  return number.format(value)
}

/** A share between 0 and 1 in whole percent. */
export const percentOf = (share: number): number => Math.round(share * 100)

export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log(Math.max(1, bytes)) / Math.log(1024)))
  const value = bytes / 1024 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : tenths.format(value)} ${units[power] ?? ''}`
}

export function formatSeconds(ms: number): string {
  if (ms < 50) return `< ${tenths.format(0.1)} s`
  if (ms < 60_000) return `${tenths.format(ms / 1000)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

const shortDay = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** A day in UTC, such as 2026-11-22, as people write it. */
export function formatDay(date: string): string {
  return shortDay.format(new Date(`${date}T00:00:00Z`))
}

/** A number of tokens, rounded: 128K. */
export function formatTokens(tokens: number): string {
  return compact.format(tokens)
}

const date = new Intl.DateTimeFormat(locale, { dateStyle: 'full' })
const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })

export function formatDate(iso: string): string {
  return date.format(new Date(iso))
}

const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' })

export function formatMonth(iso: string): string {
  return month.format(new Date(iso))
}

export function formatTime(iso: string): string {
  return time.format(new Date(iso))
}

const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })

export function formatDateTime(iso: string): string {
  return dateTime.format(new Date(iso))
}

/** In another time zone than that of the reader. */
export function formatDateTimeIn(timeZone: string, iso: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(new Date(iso))
}

/** An amount in the smallest unit of its currency. */
export function formatMoney(amount: number, currency: string): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency })
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
}

/** An amount in whole units of a currency that the operator named, which may be no ISO 4217 code. */
export function formatCost(amount: number, currency: string): string {
  const digits = { maximumFractionDigits: 4 }
  if (!/^[A-Za-z]{3}$/.test(currency)) return `${new Intl.NumberFormat(locale, digits).format(amount)} ${currency}`
  return new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits }).format(amount)
}

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

export function formatAgo(iso: string): string {
  const age = new Date(iso).getTime() - Date.now()
  for (const [unit, ms] of steps) if (Math.abs(age) >= ms) return relative.format(Math.round(age / ms), unit)
  return relative.format(0, 'minute')
}
