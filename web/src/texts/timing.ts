import type english from './en/timing.json'
import { loadTexts } from './load.ts'

/** The words of schedules in the language of the page. */
export const timingMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/timing.json', { import: 'default' }),
  {
    once: ['time'],
    at: ['times'],
    everyMinutes: ['step'],
    atMinutes: ['minutes'],
    inHours: ['minutes', 'hours'],
    everyHours: ['minutes', 'step'],
    onDates: ['dates', 'amount'],
    everyDates: ['step'],
    onWeekdays: ['weekdays'],
    onlyIf: ['dates', 'weekdays'],
    inMonths: ['months'],
    range: ['from', 'to'],
    steps: ['values', 'step'],
    list: ['values', 'last'],
    every: { day: ['amount'], hour: ['amount'], minute: ['amount'], second: ['amount'] },
  },
)
