import type { Block } from '../../../domain/chunking/block.ts'
import type { Content } from '../content.ts'
import { ruleText } from './calendar-rules.ts'
import { dateText, durationText, lastDay } from './calendar-times.ts'
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
