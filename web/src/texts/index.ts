import { en } from './en.ts'

/** All that a language has to say. */
export type Texts = typeof en

/** The language of the page. Another one is a file beside `en.ts` of the type `Texts`. */
export const texts: Texts = en
