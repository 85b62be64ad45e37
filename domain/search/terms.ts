import { cutText } from '../cut-text.ts'

/** How much of texts is read; what was read is taken off. */
export interface ReadingBudget {
  /** Characters after folding, which makes eighteen of one. */
  characters: number
}

/**
 * The terms of a text for full-text search: without case, accents and English plurals, numbers without separators,
 * and pairs of characters for scripts without spaces. Texts and queries are processed in the same way, so that
 * stores need no language support.
 */
export function termsOf(text: string): string[] {
  const terms: string[] = []
  for (const some of termsIn(text, { characters: Infinity })) for (const term of some) terms.push(term)
  return terms
}

/** The same in pieces, each the work of a moment, until the text or the budget is at its end. */
export function* termsIn(text: string, budget: ReadingBudget): Generator<string[], undefined> {
  // No word goes past the end of a line, and in most texts few lines need more than the simple patterns.
  for (let start = 0; start < text.length && budget.characters > 0;) {
    const end = endOfPiece(text, start)
    const piece = text.slice(start, end)
    const isPlain = !beyondPlain.test(piece)
    const read = (isPlain ? piece.toLowerCase() : folded(piece)).slice(0, budget.characters)
    budget.characters -= read.length + 1
    const terms: string[] = []
    addTerms(terms, read.match(isPlain ? plainWordPattern : wordPattern), isPlain)
    yield terms
    start = text[end] === '\n' ? end + 1 : end
  }
}

const pieceLength = 10_000

/** The end of the line, or in long lines of a word. */
function endOfPiece(text: string, start: number): number {
  const longest = start + pieceLength
  const newline = text.slice(start, longest).indexOf('\n')
  if (newline >= 0) return start + newline
  if (longest >= text.length) return text.length
  const space = text.lastIndexOf(' ', longest)
  if (space > start) return space
  return isHighSurrogate(text.charCodeAt(longest - 1)) ? longest - 1 : longest
}

const isHighSurrogate = (code: number) => (code & 0xfc00) === 0xd800

/** Marks go first: putting many of them into their order takes the square of their number. */
function folded(piece: string): string {
  return withoutMarks(withoutMarks(piece).normalize('NFKD')).toLowerCase()
}

const withoutMarks = (text: string) => text.replace(/\p{M}+/gu, '')

function addTerms(terms: string[], words: string[] | null, arePlain: boolean): void {
  for (const word of words ?? []) {
    if (stopWords.has(word)) continue
    if (!arePlain && spacelessPattern.test(word)) addPairs(terms, word)
    else if (beginsWithDigit(word) && /[.,]/.test(word)) addNumbers(terms, word)
    else terms.push(stem(cutText(withoutEnding(word), 40)))
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

function addPairs(terms: string[], word: string): void {
  const characters = Array.from(word)
  if (characters.length === 1) terms.push(word)
  for (let at = 1; at < characters.length; at++) terms.push(`${characters[at - 1] ?? ''}${characters[at] ?? ''}`)
}

/** A number whose separators only make it readable: its parts mean nothing, and would make tables three times as long. */
const groupedPattern = /^\d{1,3}(?:(?:,\d{3})+|(?:\.\d{3})+)$/

function addNumbers(terms: string[], word: string): void {
  terms.push(word.replace(/[.,]/g, ''))
  if (groupedPattern.test(word)) return
  for (const part of word.split(/[.,]/)) terms.push(part)
}

/** The weak "S stemmer" (Harman 1991): only plurals, so that it does little harm in other languages. */
function stem(word: string): string {
  if (word.length < 4 || !word.endsWith('s')) return word
  if (word.endsWith('ies') && !/[ae]ies$/.test(word)) return `${word.slice(0, -3)}y`
  if (word.endsWith('es') && !/[aeo]es$/.test(word)) return word.slice(0, -1)
  return /[us]s$/.test(word) ? word : word.slice(0, -1)
}
