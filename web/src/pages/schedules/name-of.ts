import type { Schemas } from '../../lib/api.ts'
import { timingWords } from '../../lib/cron-words.ts'
import { scheduleMessages } from '../../texts/schedules.ts'

/** How a schedule is called: as its note says, otherwise by what it asks. */
export const nameOf = (schedule: Schemas['Schedule'] | undefined): string =>
  schedule === undefined
    ? scheduleMessages.deleted
    : schedule.note || schedule.input.at(-1)?.data.content.trim() || timingWords(schedule)
