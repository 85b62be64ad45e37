import { termsOf } from './terms.ts'

/**
 * Says of one text after the other whether the same was there before, as in a second copy of a file: with the same words,
 * however they are set. Texts with one other word are kept: two contracts may differ in a name alone.
 */
export function createKnownTexts(): (text: string) => boolean {
  const seen = new Set<string>()
  return (text) => {
    const words = [...new Set(termsOf(text))].toSorted().join(' ')
    if (words === '' || !seen.has(words)) {
      seen.add(words)
      return false
    }
    return true
  }
}
