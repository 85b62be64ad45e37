import { termsOf } from './terms.ts'

/** Two texts are nearly the same when they share so much of all their words. */
const sharedWords = 0.9
/** The beginning of a text tells. */
const comparedCharacters = 4000

/** Says of one text after the other whether nearly the same was there before: a passage of a second copy of a file says nothing new. */
export function createNearDuplicates(): (text: string) => boolean {
  const seen: Set<string>[] = []
  return (text) => {
    const words = new Set(termsOf(text.slice(0, comparedCharacters)))
    if (words.size === 0) return false
    if (seen.some((other) => areAlike(words, other))) return true
    seen.push(words)
    return false
  }
}

function areAlike(one: Set<string>, other: Set<string>): boolean {
  const [small, large] = one.size < other.size ? [one, other] : [other, one]
  // Most are told apart by their sizes.
  if (small.size < sharedWords * large.size) return false
  let shared = 0
  for (const word of small) if (large.has(word)) shared++
  return shared >= sharedWords * (one.size + other.size - shared)
}
