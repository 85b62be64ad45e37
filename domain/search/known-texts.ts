/**
 * Says of one text after the other whether the same was there before, as in a second copy of a file: the same words and
 * numbers in the same order, however they are set. Texts with one other word are kept: two contracts may differ in a name
 * alone, in a "not", in who pays whom, or in a sign.
 */
export function createKnownTexts(): (text: string) => boolean {
  const seen = new Set<string>()
  return (text) => {
    const words = text.normalize('NFKC').toLowerCase().match(wordPattern)?.join(' ')
    if (words === undefined || !seen.has(words)) {
      if (words !== undefined) seen.add(words)
      return false
    }
    return true
  }
}

/** Numbers with their sign and their separators. */
const wordPattern = /[-+\u2212]?\p{N}+(?:[.,:/]\p{N}+)*|[\p{L}\p{M}\p{N}]+/gu
