import { countTokens, tokenWindowCharacters, windows } from './count-tokens.ts'

/** The smallest piece that chunking moves about: a sentence, a line, or a window of an endless one. */
export interface Unit {
  /** With the white space that follows it, so that joined units give the text back. */
  text: string
  tokens: number
  /** A chunk that ends here ends with a paragraph. */
  endsParagraph: boolean
}

const maxUnitTokens = 160
const denseWindowCharacters = 96

/** Ends of sentences in the scripts that mark them, and line breaks. Matches in linear time. */
const boundary = /[.!?…]["'”’»)\]]*\s+|[。！？]["'”’」』）]*\s*|\n\s*/g

/** Cuts a text at the ends of its sentences and lines; what is longer than a window is cut again. */
export function splitIntoUnits(text: string): Unit[] {
  const units: Unit[] = []
  let start = 0
  for (const match of text.matchAll(boundary)) {
    const end = match.index + match[0].length
    addPiece(units, text.slice(start, end), hasBlankLine(match[0]))
    start = end
  }
  if (start < text.length) addPiece(units, text.slice(start), true)
  return units
}

/** Cuts source code at its lines only: their indentation means something. */
export function splitIntoLines(text: string): Unit[] {
  const units: Unit[] = []
  for (const match of text.matchAll(/[^\n]*\n+|[^\n]+$/g)) addPiece(units, match[0], hasBlankLine(match[0]))
  return units
}

function addPiece(units: Unit[], text: string, endsParagraph: boolean): void {
  for (const piece of text.length <= tokenWindowCharacters ? [text] : windows(text, tokenWindowCharacters)) {
    addWindow(units, piece)
  }
  const last = units.at(-1)
  if (last) last.endsParagraph = endsParagraph
}

/** Scripts with a token or more for each character give windows that are too big to be moved about. */
function addWindow(units: Unit[], text: string): void {
  const tokens = countTokens(text)
  if (tokens <= maxUnitTokens || text.length <= denseWindowCharacters) {
    units.push({ text, tokens, endsParagraph: false })
    return
  }
  for (const piece of windows(text, denseWindowCharacters)) {
    units.push({ text: piece, tokens: countTokens(piece), endsParagraph: false })
  }
}

function hasBlankLine(text: string): boolean {
  return text.indexOf('\n') !== text.lastIndexOf('\n')
}
