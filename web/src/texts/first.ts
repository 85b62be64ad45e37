import type english from './en/first.json'
import { loadTexts } from './load.ts'

/** The texts of the first minute in the language of the page. */
export const firstMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/first.json', { import: 'default' }),
  {
    use: ['server'],
    connected: ['model'],
  },
)
