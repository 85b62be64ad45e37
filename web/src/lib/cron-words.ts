import type { Schemas } from './api.ts'

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const months = 'January February March April May June July August September October November December'.split(' ')
const two = (text: string) => text.padStart(2, '0')

/** When a schedule is due, in words. */
export function timingWords({
  cron,
  interval_seconds,
  at,
  timezone,
}: Pick<Schemas['Schedule'], 'cron' | 'interval_seconds' | 'at' | 'timezone'>): string {
  if (cron !== null) return `${cronWords(cron)} (${timezone})`
  if (interval_seconds !== null) return `Every ${durationWords(interval_seconds)}`
  return at === null ? '' : `Once, at ${at.slice(0, 16).replace('T', ' ')} UTC`
}

/** A cron expression of five fields in words; the expression itself if it does not have five. */
export function cronWords(expression: string): string {
  const [minute, hour, day, month, weekday, ...more] = expression.trim().split(/\s+/)
  if (!minute || !hour || !day || !month || !weekday || more.length > 0) return expression
  return [timeWords(minute, hour), dayWords(day, weekday), month === '*' ? '' : `in ${listWords(month, monthName)}`]
    .filter(Boolean)
    .join(' ')
}

function timeWords(minute: string, hour: string): string {
  if (isNumber(minute) && isNumber(hour)) return `At ${two(hour)}:${two(minute)}`
  if (isNumber(minute) && /^[\d,]+$/.test(hour))
    return `At ${joined(hour.split(',').map((one) => `${two(one)}:${two(minute)}`))}`
  const at = minute === '*' ? 'Every minute' : minuteWords(minute)
  return hour === '*' ? at : `${at}, in the hours ${listWords(hour, String)}`
}

function minuteWords(minute: string): string {
  const [, step] = /^\*\/(\d+)$/.exec(minute) ?? []
  return step === undefined ? `At the minutes ${listWords(minute, String)} of the hour` : `Every ${step} minutes`
}

function dayWords(day: string, weekday: string): string {
  const dates = day === '*' ? '' : `on day ${listWords(day, String)} of the month`
  const names = weekday === '*' ? '' : `on ${listWords(weekday, dayName)}`
  if (dates && names) return `${dates}, if it is ${names.slice(3)}`
  return dates || names || 'every day'
}

function listWords(field: string, name: (value: string) => string): string {
  return joined(
    field.split(',').map((part) => {
      const [range = '', step] = part.split('/')
      const [from = '', to] = range.split('-')
      const words = range === '*' ? 'any' : to === undefined ? name(from) : `${name(from)} to ${name(to)}`
      return step === undefined ? words : `${words} by steps of ${step}`
    }),
  )
}

const isNumber = (text: string) => /^\d+$/.test(text)
const joined = (parts: string[]) =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
const named = (names: string[], first: number) => (value: string) =>
  (isNumber(value)
    ? names[Number(value) - first]
    : names.find((name) => name.slice(0, 3).toUpperCase() === value.toUpperCase())) ?? value
const dayName = named(days, 0)
const monthName = named(months, 1)

function durationWords(seconds: number): string {
  for (const [unit, size] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const)
    if (seconds % size === 0) return seconds === size ? unit : `${seconds / size} ${unit}s`
  return `${seconds} seconds`
}
