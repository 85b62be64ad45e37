import { inLanguage } from '../lib/language.ts'
import type { enMemory } from './en-memory.ts'

/** The texts of the page of facts in the language of the page. */
export const memoryTexts: typeof enMemory = await inLanguage<typeof enMemory>({
  en: async () => (await import('./en-memory.ts')).enMemory,
  de: async () => (await import('./de-memory.ts')).deMemory,
})
