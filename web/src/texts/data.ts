import type english from './en/data.json'
import { loadTexts } from './load.ts'

/** The texts of the page of the data of an account in the language of the page. */
export const dataMessages = await loadTexts(import.meta.glob<typeof english>('./*/data.json', { import: 'default' }), {
  validUntil: ['time'],
  foreign: {
    tooLarge: ['size'],
    found: ['amount', 'project'],
    left: { files: ['amount'], chats: ['amount'], branches: ['amount'], cut: ['amount'] },
  },
  sending: ['size'],
  unpublished: ['assistants'],
})
