import { raisedMarks } from '../raised-text.ts'
import { baseOfReading } from '../reading-field.ts'
import { isSymbolFont, symbolOf, textOfSymbols } from '../symbol-font.ts'
import type { DocFont } from './fonts.ts'
import type { Piece } from './pieces.ts'
import {
  type LetterProperties,
  type ParagraphProperties,
  addLetterProperties,
  addParagraphProperties,
} from './properties.ts'
import type { Run } from './runs.ts'
import type { DocStyle } from './styles.ts'

/** A paragraph with its properties and what ends it. */
export interface Paragraph {
  text: string
  properties: ParagraphProperties
  style: DocStyle
  end: 'paragraph' | 'cell' | 'row'
  /** In how many tables it stands. */
  depth: number
  /** The positions from its start on, up to its end. */
  start: number
  stop: number
  /** Notes and shapes whose marks in this paragraph are shown. */
  marks: number[]
}

/** Where texts and their properties are found. */
export interface StorySource {
  main: Buffer
  pieces: Piece[]
  letters(offset: number): Run
  paragraphs(offset: number): Run
  /** Properties of a paragraph that stand in the data stream. */
  more(offset: number): Buffer | undefined
  style(number: number | undefined): DocStyle
  fonts: DocFont[]
  /** Of a document before Unicode, what its bytes say in a font. */
  decode: ((bytes: string, font: number | undefined) => string) | undefined
  /** What a field of a form shows that has no text. */
  formField(offset: number, code: string): string
  /** What somebody wrote about a picture. */
  picture(offset: number): string
  /** The positions of marks, in order. */
  marks: number[]
}

const maxFields = 100
const maxCode = 200
const maxDepth = 20
/** A paragraph longer than this is cut in two. */
const maxCharacters = 1_000_000

interface Field {
  code: string
  isCode: boolean
}

/** The paragraphs of a part of the text. */
export function* paragraphsOf(source: StorySource, range: { start: number; end: number }): Generator<Paragraph> {
  const fields: Field[] = []
  let open = { text: '', start: range.start, marks: [] as number[] }
  let nextMark = lowerBound(source.marks, range.start)

  const isShown = () => !fields.some((field) => field.isCode || /^\s*(PAGE|NUMPAGES|SECTIONPAGES)\b/.test(field.code))

  function takeMarks(end: number, isKept: boolean): void {
    for (let at = source.marks[nextMark]; at !== undefined && at < end; at = source.marks[nextMark]) {
      nextMark++
      if (isKept) open.marks.push(at)
    }
  }

  function add(given: string, letters: LetterProperties): void {
    const field = fields.at(-1)
    if (field?.isCode === true) {
      if (field.code.length < maxCode) field.code += given
      return
    }
    if (given === '' || letters.isHidden === true || !isShown()) return
    const font = source.fonts[letters.font ?? -1]?.name
    const decoded = source.decode ? source.decode(given, letters.font) : given
    const text = isSymbolFont(font)
      ? textOfSymbols(decoded)
      : decoded.replace(/[\uf020-\uf0ff]/g, (sign) => symbolOf(sign.charCodeAt(0), font))
    const [begin, end] = letters.raised === undefined ? ['', ''] : raisedMarks[letters.raised]
    open.text += begin + text + end
  }

  function endField(letters: LetterProperties): void {
    const field = fields.pop()
    if (field?.isCode === true) add(baseOfReading(field.code) ?? '', letters)
  }

  function mark(character: string, letters: LetterProperties): void {
    switch (character) {
      case '\x13':
        if (fields.length < maxFields) fields.push({ code: '', isCode: true })
        return
      case '\x14': {
        const field = fields.at(-1)
        if (field) field.isCode = false
        return
      }
      case '\x15':
        return endField(letters)
      case '\x01': {
        const field = fields.at(-1)
        if (letters.data === undefined || letters.isHidden === true) return
        if (field?.isCode !== true) {
          const description = source.picture(letters.data)
          return description === '' ? undefined : add(` ${description} `, letters)
        }
        const value = source.formField(letters.data, field.code)
        if (value !== '' && fields.slice(0, -1).every(({ isCode }) => !isCode)) open.text += value
        return
      }
      case '\t':
        return add(' ', letters)
      case '\x0b':
      case '\x0e':
        return add('\n', letters)
      case '\x1e':
        return add('-', letters)
      default:
    }
  }

  function close(cp: number, offset: number, changes: Buffer, character: string): Paragraph {
    const { style: number, properties: bytes } = source.paragraphs(offset)
    const style = source.style(number)
    const own: ParagraphProperties = { style: number }
    addParagraphProperties(own, bytes, source.more)
    addParagraphProperties(own, changes, source.more)
    const done = { ...open, stop: cp + 1 }
    open = { text: '', start: cp + 1, marks: [] }
    const depth = depthOf(own, character)
    return {
      ...done,
      depth,
      properties: own,
      style: own.style === number ? style : source.style(own.style),
      end: endOf(own, character, depth),
    }
  }

  let last: Piece | undefined
  for (let index = firstPiece(source.pieces, range.start); index < source.pieces.length; index++) {
    const piece = source.pieces[index]
    if (piece === undefined || piece.start >= range.end) break
    last = piece
    const stop = Math.min(piece.end, range.end)
    const offsetOf = (cp: number) => piece.offset + (cp - piece.start) * piece.width
    for (let cp = Math.max(piece.start, range.start); cp < stop;) {
      const run = source.letters(offsetOf(cp))
      const end = Math.min(stop, Math.max(cp + 1, piece.start + Math.ceil((run.end - piece.offset) / piece.width)))
      const letters = lettersOf(source, run, piece)
      const raw = textOf(source.main, offsetOf(cp), end - cp, piece.width)
      const text = piece.width === 1 && !source.decode ? fromWestern(raw) : raw
      if (letters.isDeleted === true) {
        takeMarks(end, false)
        cp = end
        continue
      }
      if (letters.symbol && text.startsWith('(')) {
        const { font, code } = letters.symbol
        add(signOf(code, source.fonts[font]?.name), { ...letters, font: -1 })
        takeMarks(end, isShown())
        cp = end
        continue
      }
      let from = 0
      for (const { 0: character, index } of text.matchAll(/[\0-\x1f]/g)) {
        add(text.slice(from, index), letters)
        takeMarks(cp + index + 1, isShown())
        from = index + 1
        if (character === '\r' || character === '\x07' || character === '\x0c' || open.text.length > maxCharacters)
          yield close(cp + index, offsetOf(cp + index), piece.changes, character)
        else mark(character, letters)
      }
      add(text.slice(from), letters)
      takeMarks(end, isShown())
      cp = end
    }
  }
  if (open.text !== '' && last) yield close(range.end, last.offset, last.changes, '\r')
}

function lowerBound(list: number[], value: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((list[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** The first piece that ends behind a position: pieces lie in order. */
function firstPiece(pieces: Piece[], cp: number): number {
  let [low, high] = [0, pieces.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((pieces[middle]?.end ?? 0) <= cp) low = middle + 1
    else high = middle
  }
  return low
}

function lettersOf(source: StorySource, run: Run, piece: Piece): LetterProperties {
  const own: LetterProperties = {}
  addLetterProperties(own, run.properties)
  addLetterProperties(own, piece.changes)
  return own.style === undefined ? own : { ...source.style(own.style).letters, ...own }
}

/** A sign that Word put in: of a font of signs, or a letter as others. */
const signOf = (code: number, font: string | undefined): string =>
  code > 0xff && (code < 0xe0_00 || code > 0xf8_ff) ? String.fromCharCode(code) : symbolOf(code, font)

/** The letters of Windows-1252 from 0x80 on. */
const western = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

function textOf(main: Buffer, offset: number, characters: number, width: 1 | 2): string {
  const bytes = main.subarray(offset, offset + characters * width)
  return bytes.toString(width === 2 ? 'utf16le' : 'latin1')
}

const fromWestern = (text: string): string =>
  text.replace(/[\x80-\x9f]/g, (letter) => western.charAt(letter.charCodeAt(0) - 0x80))

function depthOf({ isInTable, depth }: ParagraphProperties, character: string): number {
  const least = character === '\x07' || isInTable === true ? 1 : 0
  return Math.min(maxDepth, Math.max(least, least === 0 ? 0 : (depth ?? 0)))
}

function endOf(own: ParagraphProperties, character: string, depth: number): Paragraph['end'] {
  if (character === '\x07') return own.isRowEnd === true ? 'row' : 'cell'
  if (depth < 2) return 'paragraph'
  if (own.isInnerRowEnd === true) return 'row'
  return own.isInnerCellEnd === true ? 'cell' : 'paragraph'
}
