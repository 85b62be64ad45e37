import type english from './en/schedules.json'
import { loadTexts } from './load.ts'

/** The texts of the page of schedules in the language of the page. */
export const scheduleMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/schedules.json', { import: 'default' }),
  {
    newsOf: { answered: ['name'], waits: ['name'], failed: ['name'] },
    haveAnswered: ['count'],
    next: ['time'],
    deleteText: ['name'],
  },
)
