import { texts } from '../texts/index.ts'
import { api, unwrap, wordsOf } from './api.ts'
import { type Language, setLanguage } from './language.ts'
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
