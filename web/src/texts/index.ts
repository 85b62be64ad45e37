import { inLanguage } from '../lib/language.ts'
import type { en } from './en.ts'

/** All texts of a language. */
export type Texts = typeof en

/** The texts in the language of the page. Another language is a file beside `en.ts` of the type `Texts`. */
export const texts: Texts = await inLanguage<Texts>({
  en: async () => (await import('./en.ts')).en,
  de: async () => (await import('./de.ts')).de,
})
