import type english from './en/password.json'
import { loadTexts } from './load.ts'

/** The texts about a changed password in the language of the page. */
export const passwordMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/password.json', { import: 'default' }),
  {},
)
