import type english from './en/mentions.json'
import { loadTexts } from './load.ts'

/** The texts of what a message can name, and of prompts that a project shares in the language of the page. */
export const mentionMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/mentions.json', { import: 'default' }),
  { share: ['name'], unshare: ['name'], by: ['name'] },
)
