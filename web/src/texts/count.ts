import { locale } from '../lib/language.ts'

/** An amount with the word for it. */
export const count = (amount: number, one: string, many: string) =>
  `${amount.toLocaleString(locale)} ${amount === 1 ? one : many}`
