import { en } from './en.ts'

export { locale } from './locale.ts'

/** All texts of a language. */
export type Texts = typeof en

/** The language of the page. Another one is a file beside `en.ts` of the type `Texts`. */
export const texts: Texts = en
