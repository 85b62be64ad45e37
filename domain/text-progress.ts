import type { FoldedMessage } from './run-events.ts'

/** What there is to say of one message after some change. */
export interface TextAdvance {
  /** The text that follows what was sent before; empty when there is none yet. */
  delta: string
  /** The message says something else than what was sent: a later attempt took another way. */
  contradicted: boolean
}

/**
 * How much of a run's answers one reader was sent, for readers who are told only what is added. A
 * message that is begun anew under its id is passed over until it has caught up with what was sent.
 */
export function createTextProgress() {
  const sentTexts = new Map<string, string>()

  return {
    advance(folded: FoldedMessage): TextAdvance {
      const sent = sentTexts.get(folded.id) ?? ''
      const isWhole = 'whole' in folded.content
      const text = isWhole ? answerText(folded) : withoutHalfCharacter(answerText(folded))
      if (text.startsWith(sent)) {
        if (text !== sent) sentTexts.set(folded.id, text)
        return { delta: text.slice(sent.length), contradicted: false }
      }
      return { delta: '', contradicted: isWhole || !sent.startsWith(text) }
    },
    /** What was sent of a message. */
    sent: (messageId: string): string => sentTexts.get(messageId) ?? '',
  }
}

/** The text so far of an assistant's message; of any other message the empty text. */
function answerText({ content }: FoldedMessage): string {
  if ('pieces' in content) return content.pieces.text
  return content.whole.type === 'AIMessage' ? content.whole.data.content : ''
}

/** Half of a surrogate pair waits for the other half: alone it is no text that every client can read. */
function withoutHalfCharacter(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text
}
