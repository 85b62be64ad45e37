import type english from './en/beside.json'
import { loadTexts } from './load.ts'

/** The texts of two models side by side in the language of the page; only those chats load them. */
export const besideMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/beside.json', { import: 'default' }),
  { answerOf: ['model'], stop: ['model'], keep: ['model'], isAside: ['model'] },
)
