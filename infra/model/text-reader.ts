import { isJsonObject } from '../../domain/json.ts'
import type { AnswerDelta } from '../../services/runs/chat-model.ts'
import { arrayAt, isArray, objectAt, stringAt } from './foreign-values.ts'

/** Reads the text of an answer, and the thinking in it. `count` counts the bytes of a text and limits those of all. */
export function createTextReader({
  thinkingIsOpen,
  count,
}: {
  /** The text begins as thinking. */
  thinkingIsOpen: boolean
  count(text: string): number
}) {
  let tags: ReturnType<typeof createThinkingTags> | undefined = createThinkingTags({ isOpen: thinkingIsOpen })
  let hasContent = false

  function textDeltas(text: string): AnswerDelta[] {
    hasContent = true
    if (tags === undefined) return [{ type: 'text', text }]
    const pieces: AnswerDelta[] = tags.add(text)
    const restart = tags.restart()
    if (restart === undefined) return pieces
    return [{ type: 'restart', ...restart }]
  }

  function reasoningDeltas(text: string): AnswerDelta[] {
    // Who sends thinking in a member of its own has no tags in its text.
    if (!hasContent) tags = undefined
    return [{ type: 'reasoning', text }]
  }

  function partDeltas(value: unknown, at: string): AnswerDelta[] {
    if (typeof value === 'string') return value === '' ? [] : textDeltas(counted(value))
    const part = objectAt(value, at) ?? {}
    const thought = part['thinking'] ?? part['reasoning']
    if (thought !== undefined && thought !== null)
      return (isArray(thought) ? thought : [thought]).flatMap((piece) => {
        const text = typeof piece === 'string' ? piece : (stringAt(objectAt(piece, at)?.['text'], `${at}.text`) ?? '')
        return text === '' ? [] : reasoningDeltas(counted(text))
      })
    const refusal = stringAt(part['refusal'], `${at}.refusal`)
    if (refusal) return [{ type: 'refusal', text: counted(refusal) }]
    const said = part['text']
    const text = stringAt(isJsonObject(said) ? said['value'] : said, `${at}.text`)
    return text ? textDeltas(counted(text)) : []
  }

  function contentDeltas(value: unknown, at: string): AnswerDelta[] {
    if (isArray(value)) return (arrayAt(value, at) ?? []).flatMap((part, index) => partDeltas(part, `${at}[${index}]`))
    if (isJsonObject(value)) return partDeltas(value, at)
    const text = stringAt(value, at)
    return text ? textDeltas(counted(text)) : []
  }

  function counted(text: string): string {
    count(text)
    return text
  }

  return {
    content: contentDeltas,
    reasoning: (text: string): AnswerDelta[] => reasoningDeltas(counted(text)),
    end(answer: { isCut: boolean; hasCalls: boolean }): AnswerDelta[] {
      const last = tags?.end(answer)
      const pieces: AnswerDelta[] = last?.pieces ?? []
      return last?.restart === undefined ? pieces : [...pieces, { type: 'restart', ...last.restart }]
    },
  }
}

/** A piece of what a model wrote: of its answer, or of its thinking. */
interface Piece {
  type: 'text' | 'reasoning'
  text: string
}

interface Restart {
  reasoning: string
  text: string
}

/**
 * Where the published templates of models put their thinking: DeepSeek, Qwen and others; Gemini's chat completions;
 * Seed; Magistral; Command A; Kimi-VL; OpenThinker; gpt-oss, whose channels end with the beginning of the next.
 */
const tags = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['◁think▷', '◁/think▷'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['<|channel|>analysis<|message|>', '<|end|>'],
  ['<|start|>assistant<|channel|>analysis<|message|>', '<|end|>'],
] as const
/** What some of these templates put around the answer. */
const wrappers = [
  ['<|start|>assistant<|channel|>final<|message|>', '<|return|>'],
  ['<|channel|>final<|message|>', '<|return|>'],
  ['<|START_RESPONSE|>', '<|END_RESPONSE|>'],
  ['<|begin_of_solution|>', '<|end_of_solution|>'],
] as const
const beginnings = [...tags, ...wrappers].map(([open]) => open)
/** White space is held back while it may belong to a tag, but not without end. */
const maxBufferedSpace = 1000
/** Alone on its line, and an answer follows: an answer about such tags quotes them within a line. */
const strayClosing = /(?:^|\n)[ \t]*<\/think(?:ing)?>[ \t]*\n\s*(?=\S)/
/** The same before a call, which needs no answer. */
const strayLast = /(?:^|\n)[ \t]*<\/think(?:ing)?>\s*$/
/** In this much of the newest text a stray end is looked for. */
const tailLength = 100
/** How often the whole text is searched for one. */
const maxPolls = 100

/**
 * Splits the text of a model that thinks between tags at the beginning of its answer, however the stream cuts it.
 * Some templates open the tag themselves, so that the answer has only its end: with `isOpen` the text begins as
 * thinking; otherwise `restart` says that all text before was thinking.
 */
export function createThinkingTags({ isOpen = false } = {}) {
  let state: 'beginning' | 'thinking' | 'answer' = isOpen ? 'thinking' : 'beginning'
  let buffered = ''
  /** The text so far, while a stray end may still follow, and its last characters. */
  let said: string | undefined = ''
  let tail = ''
  let polls = 0
  let closing: string = '</think>'
  /** What ends the answer, if it stands in a tag of its own. */
  let ending: string | undefined
  /** While it thinks: all text since the beginning, with the tag. */
  let whole = ''
  let hasThought = false
  /** A whole piece of thinking came before. */
  let isAfterThinking = false
  let isAnswerBegun = true

  function beginning(): Piece[] {
    const trimmed = buffered.trimStart()
    const tag = tags.find(([open]) => trimmed.startsWith(open))
    if (tag !== undefined) {
      const [open, close] = tag
      const text = trimmed.slice(open.length)
      whole = buffered.slice(0, buffered.length - text.length)
      buffered = ''
      state = 'thinking'
      closing = close
      return [...(hasThought ? [{ type: 'reasoning' as const, text: '\n\n' }] : []), ...thinking(text)]
    }
    const wrapper = wrappers.find(([open]) => trimmed.startsWith(open))
    if (wrapper === undefined && buffered.length - trimmed.length <= maxBufferedSpace && isBeginning(trimmed)) return []
    const text = wrapper === undefined ? buffered : trimmed.slice(wrapper[0].length)
    buffered = ''
    state = 'answer'
    said = isAfterThinking || wrapper !== undefined ? undefined : ''
    isAnswerBegun = said !== undefined
    ending = wrapper?.[1]
    return answer(text)
  }

  function thinking(text: string): Piece[] {
    whole += text
    const from = Math.max(0, buffered.length - closing.length)
    buffered += text
    const end = buffered.indexOf(closing, from)
    if (end >= 0) {
      const pieces = thoughtPiece(buffered.slice(0, end).trimEnd())
      const rest = buffered.slice(end + closing.length)
      buffered = ''
      whole = ''
      state = 'beginning'
      isAfterThinking = true
      buffered = rest
      return [...pieces, ...beginning()]
    }
    // What may be the beginning of the end is held back, and the white space before it.
    const open = buffered.lastIndexOf(closing.charAt(0))
    const last = open >= 0 && closing.startsWith(buffered.slice(open)) ? open : buffered.length
    const safe = Math.max(buffered.slice(0, last).trimEnd().length, last - maxBufferedSpace)
    const pieces = thoughtPiece(buffered.slice(0, safe))
    buffered = buffered.slice(safe)
    return pieces
  }

  function thoughtPiece(text: string): Piece[] {
    const piece = hasThought ? text : text.trimStart()
    if (piece === '') return []
    hasThought = true
    return [{ type: 'reasoning', text: piece }]
  }

  function textPiece(text: string): Piece[] {
    return text === '' ? [] : [{ type: 'text', text }]
  }

  function answer(given: string): Piece[] {
    if (ending !== undefined) given = withoutEnding(given, ending)
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

  /** Of an answer that ends with a tag: all but the tag, and what may become one is held back. */
  function withoutEnding(given: string, tag: string): string {
    buffered += given
    const end = buffered.indexOf(tag)
    const last = buffered.lastIndexOf(tag.charAt(0))
    const safe = end >= 0 ? end : last >= 0 && tag.startsWith(buffered.slice(last)) ? last : buffered.length
    const text = buffered.slice(0, safe)
    buffered = buffered.slice(end >= 0 ? end + tag.length : safe)
    return text
  }

  return {
    add(text: string): Piece[] {
      if (state === 'thinking') return thinking(text)
      if (state === 'answer') return answer(text)
      buffered += text
      return beginning()
    },
    /** If the text so far has a stray end of thinking: what was thought before it, and the answer after it. */
    restart(): Restart | undefined {
      if (!tail.includes('</think') || polls >= maxPolls) return undefined
      polls += 1
      return restartAt(strayClosing)
    },
    /**
     * What was held back. Thinking that never ended is the answer, if it was only supposed, or if the answer is whole:
     * neither cut off nor followed by a call.
     */
    end({ isCut = false, hasCalls = false } = {}): { pieces: Piece[]; restart?: Restart | undefined } {
      const rest = buffered
      buffered = ''
      if (state === 'beginning') return { pieces: textPiece(isAfterThinking ? rest.trim() : rest) }
      if (state === 'answer') return { pieces: textPiece(rest), restart: hasCalls ? restartAt(strayLast) : undefined }
      if ((isOpen && !isAfterThinking) || !(isAfterThinking || isCut || hasCalls))
        return { pieces: [], restart: { reasoning: '', text: whole } }
      return { pieces: thoughtPiece(rest.trimEnd()) }
    },
  }
}

const isBeginning = (text: string): boolean => beginnings.some((one) => one.startsWith(text))
