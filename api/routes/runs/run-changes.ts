import { type EventId, compareIds } from '../../../domain/event-ids.ts'
import type { Message, MessageDelta } from '../../../domain/messages.ts'
import { type FoldedMessage, type Pieces, type RunView, shownMessage } from '../../../domain/run-events.ts'

/** What a reader who has seen everything up to `seen` is sent next. */
export type Changes = (view: RunView, seen: EventId) => (Message | MessageDelta)[]

/** Every message that changed, whole. */
export function wholeMessages(): Changes {
  return (view, seen) =>
    [...view.messages.values()]
      .filter((message) => compareIds(message.changedAt, seen) > 0 && hasContent(message))
      .map(shownMessage)
}

/** What one reader has of a message that is still being written. */
interface Sent {
  /** Those of the attempt that is being written: another attempt has others. */
  pieces: Pieces
  textLength: number
  callsLength: number
  calls: number
  /** Characters of the last whole message, and those of the texts since. */
  wholeLength: number
  lengthSince: number
}

/** A message shorter than this is not sent whole a second time while it is written. */
const minWholeLength = 4096

/**
 * The text that was added, and a whole message when it is new to this reader, has ended, began anew, has grown to
 * twice its size, or when arguments of calls have. So all that is sent of a message is at most a few times its size,
 * while whole messages for each state grow with its square.
 */
export function messageDeltas(): Changes {
  const open = new Map<string, Sent>()

  function changeOf(message: FoldedMessage, view: RunView, seen: EventId): Message | MessageDelta | undefined {
    const { id, content } = message
    const sent = open.get(id)
    if (sent === undefined && compareIds(message.changedAt, seen) <= 0) return undefined
    if ('whole' in content) {
      open.delete(id)
      return content.whole
    }
    if (!hasContent(message)) return undefined
    const { pieces } = content
    const textLength = endOfText(pieces.text)
    const { calls, callsLength } = sizeOfCalls(pieces)
    const isKnown = sent?.pieces === pieces
    const added = isKnown ? pieces.text.slice(sent.textLength, textLength) : ''
    const callsGrew =
      isKnown &&
      (calls > sent.calls ||
        callsLength >= Math.max(sent.callsLength * 2, sent.callsLength + 64) ||
        (view.terminal !== undefined && callsLength > sent.callsLength))
    const isDue = isKnown && sent.lengthSince + added.length >= Math.max(sent.wholeLength, minWholeLength)
    if (!isKnown || callsGrew || isDue) {
      const whole = shownMessage(message)
      open.set(id, { pieces, textLength, callsLength, calls, wholeLength: textLength + callsLength, lengthSince: 0 })
      return { ...whole, data: { ...whole.data, content: pieces.text.slice(0, textLength) } } as Message
    }
    if (added === '') return undefined
    sent.textLength = textLength
    sent.lengthSince += added.length
    return { type: 'AIMessageDelta', data: { id, content: added } }
  }

  return (view, seen) => [...view.messages.values()].flatMap((message) => changeOf(message, view, seen) ?? [])
}

/** An empty message is not sent: after a failed attempt, the reader keeps the old text until there is new text. */
function hasContent({ content }: FoldedMessage): boolean {
  return 'whole' in content || content.pieces.text !== '' || content.pieces.calls.size > 0
}

/** Half of a character of two code units waits for the other: clients in some languages cannot join them. */
function endOfText(text: string): number {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}

/** Only calls that are shown: those with a name. */
function sizeOfCalls({ calls }: Pieces) {
  const shown = [...calls.values()].filter(({ name }) => name !== '')
  return { calls: shown.length, callsLength: shown.reduce((sum, { name, args }) => sum + name.length + args.length, 0) }
}
