import { texts } from '../texts/index.ts'
import { api, unwrap, wordsOf } from './api.ts'
import { type Language, language, storageKey } from './language.ts'
import { say } from './toasts.ts'

/** The language of the account, for the console and for mails. */
export async function changeLanguage(chosen: Language): Promise<void> {
  try {
    await unwrap(api.PATCH('/user/', { body: { language: chosen } }))
    setLanguage(chosen)
  } catch (error) {
    say(wordsOf(error, texts.offline), 'danger')
  }
}

/** Loads the page anew in that language, if it is not the page's. */
export function setLanguage(chosen: Language): void {
  localStorage.setItem(storageKey, chosen)
  if (chosen !== language) location.reload()
}
