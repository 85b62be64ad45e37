import type english from './en/starts.json'
import { loadTexts } from './load.ts'

/** The texts of starters and templates in the language of the page. */
export const startMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/starts.json', { import: 'default' }),
  {
    starter: ['place'],
  },
)
