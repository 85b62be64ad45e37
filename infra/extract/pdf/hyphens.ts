/** What the document writes within its lines, by which a word that a line breaks is judged. */
export interface KnownWords {
  add(text: string): void
  has(word: string): boolean
}

/** Of the last pages: a search reads all of it. */
const retainedCharacters = 100_000

export function createKnownWords(): KnownWords {
  const texts: string[] = []
  let characters = 0
  return {
    add(text) {
      texts.push(text.toLowerCase().replace(/[\u2010\u2011]/g, '-'))
      characters += text.length
      while (characters > retainedCharacters && texts.length > 1) characters -= texts.shift()?.length ?? 0
    },
    has(word) {
      const wanted = word.toLowerCase()
      return texts.some((text) => contains(text, wanted))
    },
  }
}

function contains(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isLetter(text[at - 1]) && !isLetter(text[at + word.length])) return true
  return false
}

const isLetter = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{M}-]/u.test(character)

/** Two lines of a paragraph as one text. */
export function joinLines(above: string, below: string, known: KnownWords): string {
  if (above.endsWith('\u00ad')) return above.slice(0, -1) + below
  // A date or an account number.
  if (/\d[-\u2010]$/.test(above.slice(-3)) && /^\d/.test(below)) return above + below
  // A number between dashes is none of a word.
  const broken = /\p{L}\S*[-\u2010]$/u.test(above.slice(-80))
    ? /([\p{L}\p{M}\p{N}]+)[-\u2010]$/u.exec(above.slice(-80))
    : null
  if (broken === null) {
    // Scripts without spaces between words.
    if (above.charCodeAt(above.length - 1) < firstDense) return `${above} ${below}`
    const isDense = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。]$/u.test(above)
    return isDense && /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(below)
      ? above + below
      : `${above} ${below}`
  }
  const next = /^[\p{L}\p{M}]+/u.exec(below)?.[0]
  // `Ein- und Ausgang`, and a dash before a figure: `pre-2020`.
  if (next !== undefined && conjunctions.has(next)) return `${above} ${below}`
  if (next === undefined || !/^\p{Ll}/u.test(next)) return above + below
  const before = broken[1] ?? ''
  return keepsHyphen(before, next, above, known) ? above + below : above.slice(0, -1) + below
}

/** Of the characters of East Asian scripts. */
const firstDense = 0x2e80

const conjunctions = new Set([
  'und',
  'oder',
  'bis',
  'bzw',
  'sowie',
  'and',
  'or',
  'to',
  'et',
  'ou',
  'y',
  'o',
  'e',
  'en',
  'of',
])

function keepsHyphen(before: string, next: string, above: string, known: KnownWords): boolean {
  if (known.has(`${before}-${next}`)) return true
  if (known.has(before + next)) return false
  // One word with several hyphens: `state-of-the-art`.
  if (/[-\u2010][\p{L}\p{M}]+[-\u2010]$/u.test(above)) return true
  return firstParts.has(before.toLowerCase()) || (/\p{N}$/u.test(before) && next.length > 2)
}

/** Words that English joins to others by a hyphen, and that no syllable of a longer word is written like. */
const firstParts = new Set(
  'well self half high low long short full hard soft free open close large small left right cross ex non fast slow deep wide third first second two three four five six seven eight nine ten year day month week state user built time part all ever best ill much so-called'.split(
    ' ',
  ),
)
