import { inLanguage } from '../lib/language.ts'
import type { enTiming } from './en-timing.ts'

/** The words of schedules in the language of the page. */
export const timingTexts: typeof enTiming = await inLanguage<typeof enTiming>({
  en: async () => (await import('./en-timing.ts')).enTiming,
  de: async () => (await import('./de-timing.ts')).deTiming,
})
