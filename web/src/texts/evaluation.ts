import type english from './en/evaluation.json'
import { loadTexts } from './load.ts'

/** The texts of test questions for an assistant's files, in the language of the page. */
export const evaluationMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/evaluation.json', { import: 'default' }),
  { remove: ['question'] },
)
