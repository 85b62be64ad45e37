import type { FoldedMessage } from './run-events.ts'

/** What is new in one message after a change. */
export interface TextAdvance {
  /** The text after what was sent before; may be empty. */
  delta: string
  /** The message contradicts the text that was sent: a later attempt gave another answer. */
  contradicted: boolean
}

/**
 * How much of a run's answers, or of another text of them, a reader has received, for readers who receive only additions. A message that begins
 * again under its id is skipped until it is longer than what was sent.
 */
export function createTextProgress(textOf = answerText) {
  const sentTexts = new Map<string, string>()
  /** By message: what was withdrawn, and is noted. Later texts that begin like it are not withdrawn. */
  const withdrawnTexts = new Map<string, string>()

  function isNewlyWithdrawn({ id, withdrawnText }: FoldedMessage, known: string): boolean {
    if (withdrawnText === undefined || textOf !== answerText) return false
    const isNoted = withdrawnTexts.get(id) === withdrawnText
    withdrawnTexts.set(id, withdrawnText)
    return !isNoted && known !== '' && withdrawnText.startsWith(known)
  }

  return {
    advance(folded: FoldedMessage): TextAdvance {
      const known = sentTexts.get(folded.id) ?? ''
      // What was sent stays; the answer follows it.
      const isWithdrawn = isNewlyWithdrawn(folded, known)
      const sent = isWithdrawn ? '' : known
      if (isWithdrawn) sentTexts.delete(folded.id)
      const isWhole = 'whole' in folded.content
      const text = isWhole ? textOf(folded) : withoutHalfCharacter(textOf(folded))
      if (text.startsWith(sent)) {
        if (text !== sent) sentTexts.set(folded.id, text)
        return { delta: text.slice(sent.length), contradicted: false }
      }
      return { delta: '', contradicted: isWhole || !sent.startsWith(text) }
    },
    /** The part of a message that was sent. */
    sent: (messageId: string): string => sentTexts.get(messageId) ?? '',
  }
}

/** The text so far of an assistant's message; empty for any other message. */
function answerText({ content }: FoldedMessage): string {
  if ('pieces' in content) return content.pieces.text
  return content.whole.type === 'AIMessage' ? content.whole.data.content : ''
}

/** What the model says instead of an answer, so far. */
export function refusalText({ content }: FoldedMessage): string {
  if ('pieces' in content) return content.pieces.refusal
  return content.whole.type === 'AIMessage' ? (content.whole.data.refusal ?? '') : ''
}

/** What the model thinks before it answers, so far. */
export function reasoningText({ content }: FoldedMessage): string {
  if ('pieces' in content) return content.pieces.reasoning
  return content.whole.type === 'AIMessage' ? (content.whole.data.reasoning ?? '') : ''
}

/** The first half of a surrogate pair waits for the second: alone it is not valid text for every client. */
function withoutHalfCharacter(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text
}
