import type english from './en/documents.json'
import { loadTexts } from './load.ts'

/** The texts of documents beside the chat in the language of the page. */
export const documentMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/documents.json', { import: 'default' }),
  {
    openNamed: ['name'],
    panel: ['name'],
    version: ['number'],
    versionCount: ['amount'],
    byOther: ['name'],
    shown: ['number', 'newest'],
    removeTitle: ['name'],
  },
)
