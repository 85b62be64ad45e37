/** A piece of what a model wrote: of its answer, or of its thinking. */
export interface Piece {
  type: 'text' | 'reasoning'
  text: string
}

const opening = /^\s*<(think|thinking|thought|reasoning)>\s*/
const beginnings = ['<think>', '<thinking>', '<thought>', '<reasoning>']
/** Longer than each closing tag with the line ends around it. */
const longestTag = '\n</reasoning>\n'.length
/** Alone on its line: an answer about such tags quotes them within a line. */
const strayClosing = /(?:^|\n)[ \t]*<\/think(?:ing)?>[ \t]*(?:\n+|$)/

/**
 * Splits the text of a model that thinks between tags at the beginning of its answer, however the stream cuts it.
 * Some templates open the tag themselves, so that the answer has only its end: with `isOpen` the text begins as
 * thinking; otherwise `restart` says that all text before was thinking.
 */
export function createThinkingTags({ isOpen = false } = {}) {
  let state: 'beginning' | 'thinking' | 'answer' = isOpen ? 'thinking' : 'beginning'
  let held = ''
  /** The text so far, while a stray end may still follow, and its last characters. */
  let said: string[] | undefined = []
  let tail = ''
  let tag = 'think(?:ing)?'
  let isGuess = isOpen
  let thought = ''
  let isAnswerBegun = true

  function beginning(): Piece[] {
    const found = opening.exec(held)
    if (found !== null) {
      state = 'thinking'
      tag = found[1] ?? tag
      held = held.slice(found[0].length)
      return thinking()
    }
    const trimmed = held.trimStart()
    if (trimmed.length < 12 && beginnings.some((one) => one.startsWith(trimmed))) return []
    state = 'answer'
    return answer()
  }

  function thinking(): Piece[] {
    const found = new RegExp(`\\s*</${tag}>\\s*`).exec(held)
    if (found !== null) {
      const pieces = thoughtPiece(held.slice(0, found.index))
      held = held.slice(found.index + found[0].length)
      state = 'answer'
      isGuess = false
      said = undefined
      isAnswerBegun = false
      return [...pieces, ...answer()]
    }
    // What may be the beginning of the end is held back, and the white space before it.
    const open = held.lastIndexOf('<')
    const isEnd = open >= 0 && held.length - open < longestTag
    const safe = (isEnd ? held.slice(0, open) : held).trimEnd().length
    const pieces = thoughtPiece(held.slice(0, safe))
    held = held.slice(safe)
    return pieces
  }

  function thoughtPiece(text: string): Piece[] {
    const piece = thought === '' ? text.trimStart() : text
    thought += piece
    return piece === '' ? [] : [{ type: 'reasoning', text: piece }]
  }

  function answer(): Piece[] {
    const text = isAnswerBegun ? held : held.trimStart()
    held = ''
    if (text === '') return []
    isAnswerBegun = true
    if (said !== undefined) {
      said.push(text)
      tail = tail.slice(-longestTag) + text
      if (tail.includes('<think')) said = undefined
    }
    return [{ type: 'text', text }]
  }

  return {
    add(text: string): Piece[] {
      held += text
      return state === 'beginning' ? beginning() : state === 'thinking' ? thinking() : answer()
    },
    /** If the text so far has a stray end of thinking: what was thought before it, and the answer after it. */
    restart(): { reasoning: string; text: string } | undefined {
      if (said === undefined || !tail.includes('</think')) return undefined
      const whole = said.join('')
      const found = strayClosing.exec(whole)
      if (found === null) return undefined
      const reasoning = whole.slice(0, found.index).trim()
      const text = whole.slice(found.index + found[0].length).trimStart()
      said = undefined
      isAnswerBegun = text !== ''
      return { reasoning, text }
    },
    /** What was held back. Thinking that was only supposed and never ended is the answer. */
    end(): { pieces: Piece[]; restart?: { reasoning: string; text: string } } {
      const rest = held
      held = ''
      if (state === 'beginning') return { pieces: rest === '' ? [] : [{ type: 'text', text: rest }] }
      if (state === 'thinking' && isGuess)
        return { pieces: [], restart: { reasoning: '', text: `${thought}${rest}`.trim() } }
      return { pieces: state === 'thinking' ? thoughtPiece(rest.trimEnd()) : [] }
    },
  }
}
