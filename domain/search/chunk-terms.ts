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

/**
 * The terms of a question, each once: also as they are in chunks of the other language, and last what compounds of a
 * German question may be made of.
 */
export function questionTerms(text: string): string[] {
  const found = termsOf(text)
  const terms = new Set<string>()
  for (const term of found) {
    terms.add(term)
    if (isWord(term)) terms.add(germanStem(term))
    for (const part of partsOf(term)) terms.add(part)
  }
  if (isGerman(text))
    for (const term of found) if (isWord(term)) for (const part of compoundParts(term)) terms.add(part)
  return [...terms]
}

/** Shorter words are rarely compounds, and longer ones were cut. */
const compoundLetters = { from: 11, to: 39 }

/**
 * What a German compound may begin and end with. No list of words is needed to split it: what is no word stands in no
 * text, so that only the index knows.
 */
function compoundParts(word: string): string[] {
  if (word.length < compoundLetters.from || word.length > compoundLetters.to) return []
  const parts: string[] = []
  for (let at = 4; at <= word.length - 5; at++) parts.push(germanStem(word.slice(at)))
  for (let at = 5; at <= word.length - 4; at++) parts.push(germanStem(word.slice(0, at)))
  return parts
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

/** Words that German texts cannot do without, and others do not have. */
const germanWords = new Set(
  (
    'der die das und ist nicht ein eine einer eines einem einen den dem des im mit auf für von zu sich auch als bei nach ' +
    'wie wird werden wurde wurden war sind hat haben kann aus über wer wo wann warum welche welcher welches welchen wessen'
  ).split(' '),
)
const otherWords = new Set('the of to and is was for that with what which who how did does are were by'.split(' '))

/** Whether a text is German, by its first hundred words: more would cost large files too much time. */
export function isGerman(text: string): boolean {
  let german = 0
  let other = 0
  for (const [word] of text
    .slice(0, 500)
    .toLowerCase()
    .matchAll(/\p{L}+/gu)) {
    if (germanWords.has(word)) german++
    else if (otherWords.has(word)) other++
  }
  return german > other
}

/** "CISTEM" (Weissweiler and Fraser 2017), without regard to capitals. The word is in lower case. */
export function germanStem(word: string): string {
  let stem = word.replaceAll('ü', 'u').replaceAll('ö', 'o').replaceAll('ä', 'a').replaceAll('ß', 'ss')
  stem = stem
    .replace(/^ge(.{4,})/, '$1')
    .replaceAll('sch', '$')
    .replaceAll('ei', '%')
    .replaceAll('ie', '&')
  stem = stem.replace(/(.)\1/g, '$1*')
  while (stem.length > 3) {
    const shorter = stem.length > 5 ? stem.replace(/(?:e[mr]|nd)$/, '') : stem
    const next = shorter === stem ? stem.replace(/[tesn]$/, '') : shorter
    if (next === stem) break
    stem = next
  }
  return stem.replace(/(.)\*/g, '$1$1').replaceAll('$', 'sch').replaceAll('%', 'ei').replaceAll('&', 'ie')
}
