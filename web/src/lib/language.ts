import { type Language, firstSpoken, languages } from '../texts/languages.ts'

export { type Language, languages }

export const storageKey = 'assistant-platform.language'

/** What was chosen in this browser. */
export function chosenLanguage(): Language | undefined {
  const stored = globalThis.localStorage?.getItem(storageKey)
  return languages.find((one) => one === stored)
}

/**
 * The language of the page: the one that was chosen, else the first of the browser's that there is. It does not change
 * while the page is open.
 */
export const language: Language = chosenLanguage() ?? firstSpoken(globalThis.navigator?.languages ?? []) ?? 'en'

/** How numbers and times are written: as the reader's browser says, if that is for the language of the page. */
export const locale: string =
  (globalThis.navigator?.languages ?? []).find((tag) => tag.slice(0, 2).toLowerCase() === language) ?? language

/** What a language calls itself, such as "Deutsch". */
export function languageName(one: Language): string {
  const name = new Intl.DisplayNames([one], { type: 'language' }).of(one) ?? one
  return name.slice(0, 1).toLocaleUpperCase(one) + name.slice(1)
}
