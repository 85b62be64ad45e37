/**
 * The terms of a text for full-text search: without case, accents and English plurals, numbers without separators,
 * and pairs of characters for scripts without spaces. Texts and queries are processed in the same way, so that
 * stores need no language support.
 */
export function termsOf(text: string): string[] {
  const terms: string[] = []
  // No word goes past the end of a line, and in most texts few lines need more than the simple patterns.
  for (const line of text.split('\n')) {
    if (beyondPlain.test(line)) addTerms(terms, folded(line).match(wordPattern), false)
    else addTerms(terms, line.toLowerCase().match(plainWordPattern), true)
  }
  return terms
}

function folded(line: string): string {
  return line
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
}

function addTerms(terms: string[], words: string[] | null, arePlain: boolean): void {
  for (const word of words ?? []) {
    if (stopWords.has(word)) continue
    if (!arePlain && spacelessPattern.test(word)) terms.push(...pairs(word))
    else if (beginsWithDigit(word) && /[.,]/.test(word)) terms.push(word.replace(/[.,]/g, ''), ...word.split(/[.,]/))
    else terms.push(stem(withoutEnding(word).slice(0, 40)))
  }
}

function beginsWithDigit(word: string): boolean {
  const code = word.charCodeAt(0)
  return code >= 0x30 && code <= 0x39
}

/** Without what follows an apostrophe. */
function withoutEnding(word: string): string {
  return word.includes("'") || word.includes('’') ? word.replace(/['’].*$/, '') : word
}

/**
 * Most English text has only ASCII and typographic spaces, quotes and dashes: simpler patterns find its words in a
 * third of the time.
 */
const beyondPlain = /[^\0-\x7f\u00a0\u2010-\u201f\u2026]/
const plainWordPattern = /\d+(?:[.,]\d+)+|[a-z0-9]+(?:['’][a-z]+)?/g
const wordPattern = /\d+(?:[.,]\d+)+|[\p{L}\p{N}]+(?:['’]\p{L}+)?/gu
const spacelessPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

/** Words in nearly every English text; leaving them out makes the index smaller and search faster. */
const stopWords = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its ' +
    'me my no not of on or our shall she should so such than that the their them then there these they this those to us ' +
    'was we were what when where which who whom whose why will with would you your'
  ).split(' '),
)

function pairs(word: string): string[] {
  const characters = Array.from(word)
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`)
}

/** The weak "S stemmer" (Harman 1991): only plurals, so that it does little harm in other languages. */
function stem(word: string): string {
  if (word.length < 4 || !word.endsWith('s')) return word
  if (word.endsWith('ies') && !/[ae]ies$/.test(word)) return `${word.slice(0, -3)}y`
  if (word.endsWith('es') && !/[aeo]es$/.test(word)) return word.slice(0, -1)
  return /[us]s$/.test(word) ? word : word.slice(0, -1)
}
