import type { Block } from '../../../domain/chunking/block.ts'
import type { Content } from '../content.ts'
import { type ContentLine, partsOf, readContentLines, rowOf, textOf } from './content-lines.ts'

const kinds: Record<string, string> = { VEVENT: 'Event', VTODO: 'Task', VJOURNAL: 'Entry' }
/** Of one event; more are the answers of a crowd. */
const mostLines = 500

/** A calendar (iCalendar, RFC 5545): its name, and a row for each event, task and entry of a journal. */
export async function* readCalendar(content: Content): AsyncGenerator<Block> {
  let kind: string | undefined
  let lines: ContentLine[] = []
  /** Parts that are in an event: its alarms. And others than events: time zones. */
  let depth = 0
  for await (const line of readContentLines(content)) {
    const part = line.value.trim().toUpperCase()
    if (line.name === 'BEGIN' && kind !== undefined) depth++
    else if (line.name === 'BEGIN' && kinds[part] !== undefined) [kind, lines] = [kinds[part], []]
    else if (line.name === 'END' && kind !== undefined && depth > 0) depth--
    else if (line.name === 'END' && kind !== undefined) {
      yield { kind: 'row', text: entryOf(kind, lines) }
      kind = undefined
    } else if (kind === undefined) {
      if (line.name === 'X-WR-CALNAME' || line.name === 'NAME')
        yield { kind: 'heading', level: 1, text: textOf(line.value) }
      if (line.name === 'X-WR-CALDESC') yield { kind: 'text', text: textOf(line.value) }
    } else if (depth === 0 && lines.length < mostLines) lines.push(line)
  }
  // The file was cut.
  if (kind !== undefined) yield { kind: 'row', text: entryOf(kind, lines) }
}

function entryOf(kind: string, lines: ContentLine[]): string {
  const all = (name: string) => lines.filter((line) => line.name === name)
  const text = (name: string) => textOf(all(name)[0]?.value ?? '')
  const listed = (name: string, of: (line: ContentLine) => string) =>
    all(name)
      .map(of)
      .filter((part) => part !== '')
      .join(', ')
  const [end] = all('DTEND')
  const isOfDays = end !== undefined && /^\d{8}$/.test(end.value.trim())
  return rowOf([
    [kind, text('SUMMARY') || text('DESCRIPTION').slice(0, 80) || 'without a title'],
    ['Start', listed('DTSTART', dateText)],
    ...(isOfDays
      ? ([['Last day', lastDay(end.value.trim(), all('DTSTART')[0]?.value.trim())]] as [string, string][])
      : []),
    ['End', end === undefined || isOfDays ? '' : dateText(end)],
    ['Due', listed('DUE', dateText)],
    ['Completed', listed('COMPLETED', dateText)],
    ['Duration', durationText(text('DURATION'))],
    ['Repeats', listed('RRULE', ({ value }) => ruleText(value))],
    ['Also on', listed('RDATE', dateText)],
    ['Not on', listed('EXDATE', dateText)],
    ['Instead of', listed('RECURRENCE-ID', dateText)],
    ['Place', text('LOCATION')],
    ['Status', text('STATUS').toLowerCase()],
    ['Organizer', listed('ORGANIZER', personOf)],
    ['Attendees', listed('ATTENDEE', personOf)],
    ['Categories', listed('CATEGORIES', ({ value }) => partsOf(value, ',').join(', '))],
    ['Link', text('URL')],
    ['Description', text('SUMMARY') === '' && text('DESCRIPTION').length <= 80 ? '' : text('DESCRIPTION')],
    ['Comment', listed('COMMENT', ({ value }) => textOf(value))],
  ])
}

function personOf({ parameters, value }: ContentLine): string {
  const address = value.trim().replace(/^mailto:/i, '')
  const name = parameters.get('CN')?.trim() ?? ''
  const answer = parameters.get('PARTSTAT')?.toLowerCase() ?? ''
  const person = name === '' || name === address ? address : `${name} <${address}>`
  return answer === 'accepted' || answer === 'declined' || answer === 'tentative' ? `${person} (${answer})` : person
}

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
function ruleText(rule: string): string {
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

/** `2026-03-04 10:00 Europe/Berlin` of `TZID=Europe/Berlin:20260304T100000`; days without a time; lists and periods. */
function dateText({ parameters, value }: Pick<ContentLine, 'parameters' | 'value'>): string {
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

function timeText(value: string, zone = ''): string {
  const found = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z?))?$/i.exec(value)
  if (!found) return durationText(value)
  const [, year, month, day, hour, minute, second = '00', utc = ''] = found
  const date = `${year}-${month}-${day}`
  if (hour === undefined) return date
  const where = utc === '' ? zone : 'UTC'
  return `${date} ${hour}:${minute}${second === '00' ? '' : `:${second}`}${where === '' ? '' : ` ${where}`}`
}

/** The end of whole days is the day after them (RFC 5545, 3.6.1); some programs write the last day itself. */
function lastDay(end: string, start: string | undefined): string {
  if (end === start) return timeText(end)
  const [year, month, day] = [end.slice(0, 4), end.slice(4, 6), end.slice(6)].map(Number)
  const date = new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, (day ?? 1) - 1))
  return date.toISOString().slice(0, 10)
}

/** `1 day 2 hours` of `P1DT2H`. What is no duration is given back. */
function durationText(value: string): string {
  const found = /^\+?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/i.exec(value)
  if (!found) return value
  return found
    .slice(1)
    .flatMap((count, index) =>
      count === undefined ? [] : [`${Number(count)} ${counted(count, durationUnits[index] ?? '')}`],
    )
    .filter((part) => !part.startsWith('0 '))
    .join(' ')
}

const durationUnits = ['week', 'day', 'hour', 'minute', 'second']
const counted = (count: string, unit: string): string => (Number(count) === 1 ? unit : `${unit}s`)
