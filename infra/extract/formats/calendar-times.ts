import type { ContentLine } from './content-lines.ts'

/** `2026-03-04 10:00 Europe/Berlin` of `TZID=Europe/Berlin:20260304T100000`; days without a time; lists and periods. */
export function dateText({ parameters, value }: Pick<ContentLine, 'parameters' | 'value'>): string {
  const zone = parameters.get('TZID') ?? ''
  return value
    .split(',')
    .map((one) =>
      one
        .split('/')
        .map((part) => timeText(part.trim(), zone))
        .join(' to '),
    )
    .join(', ')
}

export function timeText(value: string, zone = ''): string {
  const found = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z?))?$/i.exec(value)
  if (!found) return durationText(value)
  const [, year, month, day, hour, minute, second = '00', utc = ''] = found
  const date = `${year}-${month}-${day}`
  if (hour === undefined) return date
  const where = utc === '' ? zone : 'UTC'
  return `${date} ${hour}:${minute}${second === '00' ? '' : `:${second}`}${where === '' ? '' : ` ${where}`}`
}

/** The end of whole days is the day after them (RFC 5545, 3.6.1); some programs write the last day itself. */
export function lastDay(end: string, start: string | undefined): string {
  if (end === start) return timeText(end)
  const [year, month, day] = [end.slice(0, 4), end.slice(4, 6), end.slice(6)].map(Number)
  const date = new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, (day ?? 1) - 1))
  return date.toISOString().slice(0, 10)
}

/** `1 day 2 hours` of `P1DT2H`. What is no duration is given back. */
export function durationText(value: string): string {
  const found = /^\+?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/i.exec(value)
  if (!found) return value
  return found
    .slice(1)
    .flatMap((count, index) => (count === undefined ? [] : [`${Number(count)} ${counted(count, units[index] ?? '')}`]))
    .filter((part) => !part.startsWith('0 '))
    .join(' ')
}

const units = ['week', 'day', 'hour', 'minute', 'second']
const counted = (count: string, unit: string): string => (Number(count) === 1 ? unit : `${unit}s`)
