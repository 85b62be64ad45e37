import type { Pdfium } from './pdfium.ts'

/** A word as it stands on the page. Distances in points; `y` grows downwards, as lines are read. */
export interface Word {
  text: string
  left: number
  right: number
  /** The line on which its letters stand. */
  base: number
  size: number
  isBold: boolean
  /** How often its page must be turned by 90° before it is upright. Places are those of the turned page. */
  turns: number
  /** The piece of text with which the page draws it: cells of a table are pieces of their own. */
  piece?: number
  /** The value of a form field, or the mark of one. */
  field?: 'value' | 'mark'
}

export interface PageWords {
  words: Word[]
  letters: number
  /** Letters of fonts that do not say what they mean. */
  unknownLetters: number
}

/** Of a page with more letters, the first are read in their places. */
const maxCharacters = 200_000
/** What PDFium makes of a hyphen at the end of a line: as a letter, and in a text. */
const hyphenAtEnd = 2
const hyphenInText = 0xfffe

/** The words of a page in the order in which it draws them. Turned ones are turned back, so that they can be read. */
export function wordsOf(pdfium: Pdfium, page: number): PageWords {
  const { native } = pdfium
  const textPage = native('FPDFText_LoadPage')(page)
  if (textPage === 0) return { words: [], letters: 0, unknownLetters: 0 }
  try {
    return readWords(pdfium, textPage)
  } finally {
    native('FPDFText_ClosePage')(textPage)
  }
}

function readWords(pdfium: Pdfium, textPage: number): PageWords {
  const { native, at, double } = pdfium
  const [box, textObject] = [native('FPDFText_GetCharBox'), native('FPDFText_GetTextObject')]
  const style = createStyles(pdfium, textPage)
  const codes = codesOf(pdfium, textPage)
  const words: Word[] = []
  let letters = 0
  let unknownLetters = 0
  let text = ''
  let first = -1

  function boxOf(index: number, angle: number) {
    box(textPage, index, at(0), at(1), at(2), at(3))
    return turned(angle, double(0), double(1), double(2), double(3))
  }

  function endWord(last: number): void {
    if (text === '') return
    const piece = textObject(textPage, first)
    const { angle, size, isBold, base, isUnknown } = style(first, piece)
    const begin = boxOf(first, angle)
    const end = last === first ? begin : boxOf(last, angle)
    words.push({
      text: isRightToLeft(text) ? fromTheRight(last, angle) : text,
      left: Math.min(begin.left, end.left),
      right: Math.max(begin.right, end.right),
      base,
      size,
      isBold,
      turns: angle,
      piece,
    })
    letters += text.length
    if (isUnknown) unknownLetters += text.length
    text = ''
  }

  /** The letters of a word by their places: PDFium has put some in order, and others not. */
  function fromTheRight(last: number, angle: number): string {
    const letters: Letter[] = []
    for (let index = first; index <= last; index++) {
      const code = codes[index] ?? 0
      const letter = code === hyphenAtEnd || code === hyphenInText ? '-' : String.fromCodePoint(code)
      const before = letters.at(-1)
      if (before !== undefined && /^\p{M}$/u.test(letter)) before.text += letter
      else letters.push({ text: letter, ...boxOf(index, angle) })
    }
    return inReadingOrder(letters)
  }

  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? 0
    if (code === hyphenAtEnd || code === hyphenInText) {
      if (text === '') first = index
      text += '-'
      endWord(index)
    } else if (code <= 0x20 || code === 0xa0 || code === 0xffff) endWord(index - 1)
    else {
      if (text === '') first = index
      text += code > 0xffff ? String.fromCodePoint(Math.min(code, 0x10ffff)) : String.fromCharCode(code)
      if (isPrivate(code)) unknownLetters += 1
    }
  }
  endWord(codes.length - 1)
  return { words, letters, unknownLetters }
}

/** What the letters of a page mean: one number each. */
function codesOf({ native, malloc, free, bytes }: Pdfium, textPage: number): ArrayLike<number> {
  const count = Math.min(maxCharacters, native('FPDFText_CountChars')(textPage))
  const buffer = malloc(2 * (count + 1))
  if (count <= 0 || buffer === 0) return []
  try {
    // Pairs of surrogates, and letters without a meaning, make the text longer or shorter than the list of letters.
    const written = native('FPDFText_GetText')(textPage, 0, count, buffer)
    if (written === count + 1) return new Uint16Array(bytes().slice(buffer, buffer + 2 * count).buffer)
  } finally {
    free(buffer)
  }
  const unicode = native('FPDFText_GetUnicode')
  return Array.from({ length: count }, (_, index) => unicode(textPage, index))
}

/** Codes that each font uses as it likes. */
const isPrivate = (code: number) => (code >= 0xe000 && code <= 0xf8ff) || code === 0xfffd

interface Style {
  angle: number
  size: number
  isBold: boolean
  base: number
  isUnknown: boolean
}

/** How letters look: asked once for each piece of text that the page draws. */
function createStyles(pdfium: Pdfium, textPage: number) {
  const { native, at, float, double } = pdfium
  const boldFonts = new Map<number, boolean>()
  let known: (Style & { object: number }) | undefined
  function isBoldFont(font: number): boolean {
    const found = boldFonts.get(font)
    if (found !== undefined) return found
    const isBold =
      native('FPDFFont_GetWeight')(font) >= boldWeight || /bold|black|heavy|demi/i.test(nameOf(pdfium, font))
    boldFonts.set(font, isBold)
    return isBold
  }
  return (index: number, object: number) => {
    if (known !== undefined && known.object === object && object !== 0) return known
    const font = object === 0 ? 0 : native('FPDFTextObj_GetFont')(object)
    const isBold = font !== 0 && isBoldFont(font)
    native('FPDFText_GetMatrix')(textPage, index, at(0))
    // A letter can be small in a large coordinate system.
    const scale = Math.hypot(float(2), float(3))
    const size = native('FPDFText_GetFontSize')(textPage, index) * (scale > 0 ? scale : 1)
    const angle = Math.round(native('FPDFText_GetCharAngle')(textPage, index) / (Math.PI / 2)) & 3
    native('FPDFText_GetCharOrigin')(textPage, index, at(0), at(1))
    const [x, y] = [double(0), double(1)]
    const { base } = turned(angle, x, x, y, y)
    const isUnknown = native('FPDFText_HasUnicodeMapError')(textPage, index) === 1
    known = { object, angle, size: size > 0 ? size : 1, isBold, base, isUnknown }
    return known
  }
}

const boldWeight = 600

function nameOf({ native, at, bytes }: Pdfium, font: number): string {
  const length = native('FPDFFont_GetBaseFontName')(font, at(0), maxNameBytes)
  return Buffer.from(bytes().slice(at(0), at(0) + Math.min(maxNameBytes, Math.max(0, length - 1)))).toString('latin1')
}

const maxNameBytes = 200

/** A box of the page, as it lies when its letters are upright. */
function turned(angle: number, left: number, right: number, bottom: number, top: number) {
  switch (angle) {
    case 1:
      return { left: -top, right: -bottom, base: -left }
    case 2:
      return { left: -right, right: -left, base: top }
    case 3:
      return { left: bottom, right: top, base: right }
    default:
      return { left, right, base: -bottom }
  }
}

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/** Of characters before these, which are most, none is from the right. */
const firstFromRight = 0x590

export function isRightToLeft(text: string): boolean {
  for (let index = 0; index < text.length; index++)
    if (text.charCodeAt(index) >= firstFromRight) return rightToLeft.test(text)
  return false
}

interface Letter {
  text: string
  left: number
  right: number
}

const reversed = (text: string): string => Array.from(text).toReversed().join('')

/** Of numbers and Latin letters, which are written from the left within such words. */
const fromLeft = /[\p{N}\p{Script=Latin}]+(?:[.,:/-][\p{N}\p{Script=Latin}]+)*/gu

/** Letters that are drawn as one: Lam before Alef. */
const [lam, alef] = ['\u0644', /^[\u0622\u0623\u0625\u0627]/]

/** The letters of a word of a right-to-left script, wherever they stand in the list. */
export function inReadingOrder(letters: Letter[]): string {
  const ordered = letters.toSorted((a, b) => b.right - a.right || b.left - a.left)
  for (const [index, letter] of ordered.entries()) {
    const next = ordered[index + 1]
    if (next?.text !== lam || !alef.test(letter.text) || Math.abs(next.left - letter.left) > 0.01) continue
    ordered[index] = next
    ordered[index + 1] = letter
  }
  return ordered
    .map(({ text }) => text)
    .join('')
    .replace(fromLeft, reversed)
}

const mirrors = new Map(['()', ')(', '[]', '][', '{}', '}{', '«»', '»«'].map(([from = '', to = '']) => [from, to]))

/** Brackets of a line from the right, which are drawn as they look, as they are meant. */
export function withBrackets(text: string): string {
  if (isBalanced(text)) return text
  const turned = Array.from(text, (letter) => mirrors.get(letter) ?? letter).join('')
  return isBalanced(turned) ? turned : text
}

function isBalanced(text: string): boolean {
  const open: string[] = []
  for (const letter of text.match(/[()[\]{}«»]/g) ?? []) {
    if ('([{«'.includes(letter)) open.push(letter)
    else if (open.pop() !== mirrors.get(letter)) return false
  }
  return open.length === 0
}
