import { timingMessages } from '../texts/timing.ts'
import type { Schemas } from './api.ts'
import { formatDateTime } from './format.ts'

const t = timingMessages
const everyStep = /^\*\/(\d+)$/
const two = (text: string) => text.padStart(2, '0')

/** When a schedule is due, in words. */
export function timingWords({
  cron,
  interval_seconds,
  at,
  timezone,
}: Pick<Schemas['Schedule'], 'cron' | 'interval_seconds' | 'at' | 'timezone'>): string {
  if (cron !== null) return `${cronWords(cron)} (${timezone})`
  if (interval_seconds !== null) return intervalWords(interval_seconds)
  return at === null ? '' : t.once(formatDateTime(at))
}

/** A cron expression of five fields in words; the expression itself if it does not have five. */
export function cronWords(expression: string): string {
  const [minute, hour, day, month, weekday, ...more] = expression.trim().split(/\s+/)
  if (!minute || !hour || !day || !month || !weekday || more.length > 0) return expression
  return [timeWords(minute, hour), dayWords(day, weekday), month === '*' ? '' : t.inMonths(listWords(month, monthName))]
    .filter(Boolean)
    .join(' ')
}

function timeWords(minute: string, hour: string): string {
  if (isNumber(minute) && /^[\d,]+$/.test(hour))
    return t.at(joined(hour.split(',').map((one) => `${two(one)}:${two(minute)}`)))
  const at = minute === '*' ? t.everyMinute : minuteWords(minute)
  const [, step] = everyStep.exec(hour) ?? []
  if (step !== undefined) return t.everyHours(at, step)
  return hour === '*' ? at : t.inHours(at, listWords(hour, String))
}

function minuteWords(minute: string): string {
  const [, step] = everyStep.exec(minute) ?? []
  return step === undefined ? t.atMinutes(listWords(minute, String)) : t.everyMinutes(step)
}

function dayWords(day: string, weekday: string): string {
  const [, step] = everyStep.exec(day) ?? []
  const dates = step === undefined ? t.onDates(listWords(day, String), isNumber(day) ? 1 : 2) : t.everyDates(step)
  const weekdays = weekday === '*' ? undefined : listWords(weekday, weekdayName)
  if (day === '*') return weekdays === undefined ? t.everyDay : t.onWeekdays(weekdays)
  return weekdays === undefined ? dates : t.onlyIf(dates, weekdays)
}

function listWords(field: string, name: (value: string) => string): string {
  return joined(
    field.split(',').map((part) => {
      const [range = '', step] = part.split('/')
      const [from = '', to] = range.split('-')
      const words = range === '*' ? t.any : to === undefined ? name(from) : t.range(name(from), name(to))
      return step === undefined ? words : t.steps(words, step)
    }),
  )
}

const isNumber = (text: string) => /^\d+$/.test(text)
const joined = (parts: string[]) =>
  parts.length < 2 ? parts.join('') : t.list(parts.slice(0, -1).join(', '), parts.at(-1) ?? '')

/** The names of numbers from `first` on, and of their codes in cron expressions. */
const named = (names: string[], first: number, codes: string) => (value: string) => {
  const place = isNumber(value) ? Number(value) - first : codes.split(' ').indexOf(value.toUpperCase())
  return names[place] ?? value
}
const weekdayName = named([...t.weekdays, ...t.weekdays.slice(0, 1)], 0, 'SUN MON TUE WED THU FRI SAT')
const monthName = named(t.months, 1, 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC')

function intervalWords(seconds: number): string {
  for (const [unit, size] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const)
    if (seconds % size === 0) return t.every[unit](seconds / size)
  return t.every.second(seconds)
}
