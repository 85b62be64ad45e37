import type english from './en/memory.json'
import { loadTexts } from './load.ts'

/** The texts of the page of facts in the language of the page. */
export const memoryMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/memory.json', { import: 'default' }),
  {
    ofAssistant: ['name'],
    ofProject: ['name'],
  },
)
