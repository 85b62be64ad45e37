import { inLanguage } from '../lib/language.ts'
import type { enStarts } from './en-starts.ts'

/** The texts of starters and templates in the language of the page. */
export const startTexts: typeof enStarts = await inLanguage<typeof enStarts>({
  en: async () => (await import('./en-starts.ts')).enStarts,
  de: async () => (await import('./de-starts.ts')).deStarts,
})
