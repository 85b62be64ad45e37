import { timeText } from './calendar-times.ts'

const units: Record<string, [unit: string, every: string]> = {
  SECONDLY: ['seconds', 'every second'],
  MINUTELY: ['minutes', 'every minute'],
  HOURLY: ['hours', 'every hour'],
  DAILY: ['days', 'every day'],
  WEEKLY: ['weeks', 'every week'],
  MONTHLY: ['months', 'every month'],
  YEARLY: ['years', 'every year'],
}
const days: Record<string, string> = {
  MO: 'Monday',
  TU: 'Tuesday',
  WE: 'Wednesday',
  TH: 'Thursday',
  FR: 'Friday',
  SA: 'Saturday',
  SU: 'Sunday',
}
const months = 'January February March April May June July August September October November December'.split(' ')

/**
 * A rule of repetition (RFC 5545, 3.3.10) in words: `every 2 weeks on Monday, Friday until 2026-12-31`. Parts that are
 * rare stay as they are written.
 */
export function ruleText(rule: string): string {
  const parts = new Map(
    rule
      .toUpperCase()
      .split(';')
      .map((part): [string, string] => [part.split('=')[0]?.trim() ?? '', part.split('=')[1]?.trim() ?? '']),
  )
  const [unit, every] = units[parts.get('FREQ') ?? ''] ?? []
  if (unit === undefined || every === undefined) return rule.trim()
  const interval = Number(parts.get('INTERVAL') ?? 1)
  const said = [interval > 1 ? `every ${interval} ${unit}` : every]
  for (const [name, value] of parts) {
    if (name === 'BYDAY') said.push(`on ${listOf(value, dayText)}`)
    else if (name === 'BYMONTHDAY')
      said.push(value === '-1' ? 'on the last day' : `on day ${value.replaceAll(',', ', ')}`)
    else if (name === 'BYMONTH') said.push(`in ${listOf(value, (month) => months[Number(month) - 1] ?? month)}`)
    else if (name === 'UNTIL') said.push(`until ${timeText(value)}`)
    else if (name === 'COUNT') said.push(value === '1' ? 'once' : `${value} times`)
    else if (!['FREQ', 'INTERVAL', 'WKST', ''].includes(name)) said.push(`${name}=${value}`)
  }
  return said.join(' ')
}

const listOf = (value: string, of: (part: string) => string): string => value.split(',').map(of).join(', ')

/** `2TU` is the second Tuesday, `-1FR` the last Friday. */
function dayText(value: string): string {
  const [, place = '', day = ''] = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(value) ?? []
  const name = days[day]
  if (name === undefined) return value
  const which: Record<string, string> = {
    '1': 'first',
    '2': 'second',
    '3': 'third',
    '4': 'fourth',
    '5': 'fifth',
    '-1': 'last',
  }
  return place === '' ? name : `${which[place.replace('+', '')] ?? place} ${name}`
}
