import type english from './en/providers.json'
import { loadTexts } from './load.ts'

/** The texts about identity providers in the language of the page. */
export const providerMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/providers.json', { import: 'default' }),
  { goOn: ['provider'], logIn: ['domain', 'provider'], signUp: ['domain', 'provider'] },
)
