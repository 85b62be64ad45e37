/** A piece of what a model wrote: of its answer, or of its thinking. */
export interface Piece {
  type: 'text' | 'reasoning'
  text: string
}

export interface Restart {
  reasoning: string
  text: string
}

const opening = /^\s*<(think|thinking)>\s*/
const beginnings = ['<think>', '<thinking>']
/** White space is held back while it may belong to a tag, but not without end. */
const maxHeldSpace = 1000
/** Alone on its line, and an answer follows: an answer about such tags quotes them within a line. */
const strayClosing = /(?:^|\n)[ \t]*<\/think(?:ing)?>[ \t]*\n\s*(?=\S)/
/** The same before a call, which needs no answer. */
const strayLast = /(?:^|\n)[ \t]*<\/think(?:ing)?>\s*$/
/** In this much of the newest text a stray end is looked for. */
const tailLength = 100
/** How often the whole text is searched for one. */
const maxLooks = 100

/**
 * Splits the text of a model that thinks between tags at the beginning of its answer, however the stream cuts it.
 * Some templates open the tag themselves, so that the answer has only its end: with `isOpen` the text begins as
 * thinking; otherwise `restart` says that all text before was thinking.
 */
export function createThinkingTags({ isOpen = false } = {}) {
  let state: 'beginning' | 'thinking' | 'answer' = isOpen ? 'thinking' : 'beginning'
  let held = ''
  /** The text so far, while a stray end may still follow, and its last characters. */
  let said: string | undefined = ''
  let tail = ''
  let looks = 0
  let closing = '</think>'
  /** While it thinks: all text since the beginning, with the tag. */
  let whole = ''
  let hasThought = false
  let isAnswerBegun = true

  function beginning(): Piece[] {
    const found = opening.exec(held)
    if (found !== null) {
      state = 'thinking'
      closing = `</${found[1] ?? 'think'}>`
      whole = found[0]
      const text = held.slice(found[0].length)
      held = ''
      return thinking(text)
    }
    const trimmed = held.trimStart()
    if (held.length - trimmed.length <= maxHeldSpace && beginnings.some((one) => one.startsWith(trimmed))) return []
    state = 'answer'
    const text = held
    held = ''
    return answer(text)
  }

  function thinking(text: string): Piece[] {
    whole += text
    const from = Math.max(0, held.length - closing.length)
    held += text
    const end = held.indexOf(closing, from)
    if (end >= 0) {
      const pieces = thoughtPiece(held.slice(0, end).trimEnd())
      const rest = held.slice(end + closing.length)
      held = ''
      whole = ''
      state = 'answer'
      said = undefined
      isAnswerBegun = false
      return [...pieces, ...answer(rest)]
    }
    // What may be the beginning of the end is held back, and the white space before it.
    const open = held.lastIndexOf('<')
    const last = open >= 0 && closing.startsWith(held.slice(open)) ? open : held.length
    const safe = Math.max(held.slice(0, last).trimEnd().length, last - maxHeldSpace)
    const pieces = thoughtPiece(held.slice(0, safe))
    held = held.slice(safe)
    return pieces
  }

  function thoughtPiece(text: string): Piece[] {
    const piece = hasThought ? text : text.trimStart()
    if (piece === '') return []
    hasThought = true
    return [{ type: 'reasoning', text: piece }]
  }

  function answer(given: string): Piece[] {
    const text = isAnswerBegun ? given : given.trimStart()
    if (text === '') return []
    isAnswerBegun = true
    if (said !== undefined) {
      said += text
      tail = tail.slice(-tailLength) + text
      if (tail.includes('<think')) said = undefined
    }
    return [{ type: 'text', text }]
  }

  function restartAt(pattern: RegExp): Restart | undefined {
    if (said === undefined) return undefined
    const found = pattern.exec(said)
    if (found === null) return undefined
    const reasoning = said.slice(0, found.index).trim()
    const text = said.slice(found.index + found[0].length)
    said = undefined
    return { reasoning, text }
  }

  return {
    add(text: string): Piece[] {
      if (state === 'thinking') return thinking(text)
      if (state === 'answer') return answer(text)
      held += text
      return beginning()
    },
    /** If the text so far has a stray end of thinking: what was thought before it, and the answer after it. */
    restart(): Restart | undefined {
      if (!tail.includes('</think') || looks >= maxLooks) return undefined
      looks += 1
      return restartAt(strayClosing)
    },
    /**
     * What was held back. Thinking that never ended is the answer, if it was only supposed, or if the answer is whole:
     * neither cut off nor followed by a call.
     */
    end({ isCut = false, hasCalls = false } = {}): { pieces: Piece[]; restart?: Restart | undefined } {
      const rest = held
      held = ''
      if (state === 'beginning') return { pieces: rest === '' ? [] : [{ type: 'text', text: rest }] }
      if (state === 'answer') return { pieces: [], restart: hasCalls ? restartAt(strayLast) : undefined }
      if (isOpen || !(isCut || hasCalls)) return { pieces: [], restart: { reasoning: '', text: whole } }
      return { pieces: thoughtPiece(rest.trimEnd()) }
    },
  }
}
