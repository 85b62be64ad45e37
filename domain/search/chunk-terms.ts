import { germanStem, isGerman } from './german.ts'
import { termsOf } from './terms.ts'

/**
 * The terms of a chunk for full-text search: stems of German texts; `FY2018` also as `2018`.
 */
export function chunkTerms(text: string): string[] {
  const terms = termsOf(text)
  const isStemmed = isGerman(text)
  const all: string[] = []
  for (const term of terms) {
    all.push(isStemmed && isWord(term) ? germanStem(term) : term)
    for (const part of partsOf(term)) all.push(part)
  }
  return all
}

/** The terms of a question, each once: also as they are in chunks of the other language. */
export function questionTerms(text: string): string[] {
  const terms = new Set<string>()
  for (const term of termsOf(text)) {
    terms.add(term)
    if (isWord(term)) terms.add(germanStem(term))
    for (const part of partsOf(term)) terms.add(part)
  }
  return [...terms]
}

function isWord(term: string): boolean {
  return /^\p{Script=Latin}+$/u.test(term)
}

/** The numbers and the words in a name such as `FY2018`. */
function partsOf(term: string): string[] {
  return isMixed(term) ? (term.match(/\d+|\p{L}+/gu) ?? []).filter((part) => part.length > 1) : []
}

/** Looked at code by code, because every word of every text is. */
function isMixed(term: string): boolean {
  let digits = 0
  for (let at = 0; at < term.length; at++) {
    const code = term.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) digits++
  }
  return digits > 0 && digits < term.length
}
