import type english from './en/plans.json'
import { loadTexts } from './load.ts'

/** The texts of the page of plans in the language of the page. */
export const planMessages = await loadTexts(import.meta.glob<typeof english>('./*/plans.json', { import: 'default' }), {
  now: ['used', 'max'],
  allows: ['chats'],
  every: ['interval'],
  everySo: ['times', 'interval'],
  buy: ['plan'],
  active: ['chats'],
})
