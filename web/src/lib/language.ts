export type Language = 'en' | 'de'

export const storageKey = 'assistant-platform.language'

export const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch' }

const isLanguage = (text: unknown): text is Language => text === 'en' || text === 'de'

/** What was chosen in this browser. */
export function chosenLanguage(): Language | undefined {
  const stored = globalThis.localStorage?.getItem(storageKey)
  return isLanguage(stored) ? stored : undefined
}

/** The language of the page: the one that was chosen, else the first of the browser's that there is. It does not change while the page is open. */
export const language: Language =
  chosenLanguage() ??
  (globalThis.navigator?.languages ?? []).map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ??
  'en'

/** How numbers and times are written: as the reader's browser says, if that is for the language of the page. */
export const locale: string =
  (globalThis.navigator?.languages ?? []).find((tag) => tag.slice(0, 2).toLowerCase() === language) ?? language

/** Loads one of two languages: only the texts of the page's are loaded. */
export async function inLanguage<T>(load: Record<Language, () => Promise<T>>): Promise<T> {
  return load[language]()
}
