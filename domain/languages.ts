/** The languages of accounts and their mails. */
export const languages = ['en', 'de', 'fr', 'es'] as const
export type Language = (typeof languages)[number]

/** The language of accounts without one. */
export const defaultLanguage: Language = 'en'

const maxHeaderLength = 1000
const maxRanges = 32
/** A language range with its weight (RFC 9110, section 12.5.4). */
const range = /^([a-z]{1,8})(?:-[a-z0-9]{1,8}){0,8}(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i

/**
 * The language of ours that an `Accept-Language` header prefers, by its weights, then by its order. Undefined if it
 * names none, or is too long. Ranges that are malformed are ignored.
 */
export function preferredLanguage(header: string | undefined): Language | undefined {
  if (header === undefined || header.length > maxHeaderLength) return undefined
  let preferred: { language: Language; weight: number } | undefined
  for (const part of header.split(',', maxRanges)) {
    const [, tag, weightText = '1'] = range.exec(part.trim()) ?? []
    const language = languages.find((one) => one === tag?.toLowerCase())
    const weight = Number(weightText)
    if (language !== undefined && weight > (preferred?.weight ?? 0)) preferred = { language, weight }
  }
  return preferred?.language
}
