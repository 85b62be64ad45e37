/** The languages of the console: each has its folder of texts here. */
export const languages = ['en', 'de', 'fr', 'es'] as const
export type Language = (typeof languages)[number]

/** The first of these languages that there are texts in. Other forms of a language, such as `de-AT`, count as it. */
export function firstSpoken(tags: readonly (string | undefined)[]): Language | undefined {
  for (const tag of tags) {
    const spoken = languages.find((language) => language === tag?.slice(0, 2).toLowerCase())
    if (spoken !== undefined) return spoken
  }
  return undefined
}
