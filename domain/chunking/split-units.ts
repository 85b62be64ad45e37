import { countTokens, tokenWindowCharacters, windows } from './count-tokens.ts'

/** The smallest piece that chunking moves: a sentence, a line, or a window of a very long line. */
export interface Unit {
  /** Includes the white space after it, so that joined units give the original text. */
  text: string
  tokens: number
  /** Whether a paragraph ends here. */
  endsParagraph: boolean
  /** Not the continuation of a sentence that was cut at a line's end or for its length. */
  beginsSentence: boolean
}

const maxUnitTokens = 160
const denseWindowCharacters = 96

/** Ends of sentences in the scripts that mark them, and line breaks. Matches in linear time. */
const boundary = /[.!?…]["'”’»)\]]*\s+|[。！？]["'”’」』）]*\s*|\n\s*/g

/** Cuts a text at the ends of its sentences and lines; a piece longer than a window is cut again. */
export function splitIntoUnits(text: string): Unit[] {
  const units: Unit[] = []
  let start = 0
  let beginsSentence = true
  for (const match of text.matchAll(boundary)) {
    const end = match.index + match[0].length
    const endsParagraph = hasBlankLine(match[0])
    addPiece(units, text.slice(start, end), { endsParagraph, beginsSentence })
    start = end
    beginsSentence = endsParagraph || !match[0].startsWith('\n') || !continuesSentence(text.codePointAt(end))
  }
  if (start < text.length) addPiece(units, text.slice(start), { endsParagraph: true, beginsSentence })
  return units
}

/** Cuts source code only at line ends, because indentation matters. */
export function splitIntoLines(text: string): Unit[] {
  const units: Unit[] = []
  for (const match of text.matchAll(/[^\n]*\n+|[^\n]+$/g)) {
    addPiece(units, match[0], { endsParagraph: hasBlankLine(match[0]), beginsSentence: true })
  }
  return units
}

type UnitBoundary = Pick<Unit, 'endsParagraph' | 'beginsSentence'>

function addPiece(units: Unit[], text: string, { endsParagraph, beginsSentence }: UnitBoundary): void {
  const first = units.length
  for (const piece of text.length <= tokenWindowCharacters ? [text] : windows(text, tokenWindowCharacters)) {
    addWindow(units, piece)
  }
  const begin = units[first]
  if (begin) begin.beginsSentence = beginsSentence
  const last = units.at(-1)
  if (last) last.endsParagraph = endsParagraph
}

/** In scripts with one or more tokens for each character, windows are too big to be moved. */
function addWindow(units: Unit[], text: string): void {
  const tokens = countTokens(text)
  if (tokens <= maxUnitTokens || text.length <= denseWindowCharacters) {
    units.push({ text, tokens, endsParagraph: false, beginsSentence: false })
    return
  }
  for (const piece of windows(text, denseWindowCharacters)) {
    units.push({ text: piece, tokens: countTokens(piece), endsParagraph: false, beginsSentence: false })
  }
}

/** Lines are broken within sentences: the next line begins small, or in a script without capitals. */
function continuesSentence(code: number | undefined): boolean {
  return code !== undefined && /[\p{Ll}\p{Lo}]/u.test(String.fromCodePoint(code))
}

function hasBlankLine(text: string): boolean {
  return text.indexOf('\n') !== text.lastIndexOf('\n')
}
