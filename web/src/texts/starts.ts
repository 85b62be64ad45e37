import { enStarts } from './en-starts.ts'

/** The texts of starters and templates in the language of the page. */
export const startTexts: typeof enStarts = enStarts
