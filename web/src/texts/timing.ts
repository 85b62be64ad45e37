import { enTiming } from './en-timing.ts'

/** The words of schedules in the language of the page. */
export const timingTexts: typeof enTiming = enTiming
