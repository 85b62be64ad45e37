import { inLanguage } from '../lib/language.ts'
import type { enOperation } from './en-operation.ts'

/** The texts of the operator's page in the language of the page. */
export const operationTexts: typeof enOperation = await inLanguage<typeof enOperation>({
  en: async () => (await import('./en-operation.ts')).enOperation,
  de: async () => (await import('./de-operation.ts')).deOperation,
})
