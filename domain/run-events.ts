import { addAll } from './add-all.ts'
import { cutText } from './cut-text.ts'
import { type EntryId, type EventId, compareIds, eventIdOf, laterId, zeroId } from './ids.ts'
import { type Message, type TokenLogprob, type ToolCall, maxCallIndex } from './messages.ts'
import { readPartialObject } from './partial-json.ts'
import type { RunError } from './records/run.ts'

/**
 * The small changes that a run writes to its stream. Readers fold them into whole messages. An `error` or `end`
 * closes the stream; `interrupted` closes it until the run is resumed.
 */
export type RunEntry =
  /** The first entry of a run: a stream without it has lost its beginning. */
  | { type: 'open' }
  /** A model is asked for the message. Without `sent`: it refused, and nobody pays for it. Readers are shown nothing. */
  | { type: 'asked'; id: string; sent?: SentPrompt }
  /** An assistant message begins, or begins again after a failed attempt. */
  | { type: 'begin'; id: string; sent?: SentPrompt }
  | { type: 'text'; id: string; text: string }
  /** A piece of what the model thinks before it answers. */
  | { type: 'reasoning'; id: string; text: string }
  /** What was text and what was thinking turned out otherwise: both anew. */
  | { type: 'restart'; id: string; reasoning: string; text: string }
  /** A piece of what the model says instead of an answer. */
  | { type: 'refusal'; id: string; text: string }
  /**
   * A piece of a tool call: `args` is the next part of the arguments' JSON text. Unchanged id and name are left
   * out.
   */
  | { type: 'call'; id: string; index: number; call_id?: string; name?: string; args?: string }
  /** The probabilities of further tokens of the answer. */
  | { type: 'logprobs'; id: string; tokens: TokenLogprob[] }
  /**
   * A whole message, which replaces an earlier version with its id. `sealed`: what its provider must get back with it,
   * which no caller is shown.
   */
  | { type: 'message'; message: Message; sealed?: string }
  /** The model failed, and the step is retried. */
  | { type: 'retrying' }
  | { type: 'interrupted' }
  /** An interrupted run continues. */
  | { type: 'resumed' }
  | { type: 'end' }
  | { type: 'error'; error: RunError }

/** What a model was asked for an answer, so that it is counted if the process that asks dies. */
export interface SentPrompt {
  /** The attempt. */
  fence: number
  model: string
  /** About how many tokens. */
  prompt: number
}

export interface FoldedMessage {
  changedAt: EventId
  id: string
  /**
   * A whole message, or the pieces so far of a message that is being written. `argumentTexts`: the arguments of its calls
   * as the model wrote them, in the order of the calls, if they came in pieces.
   */
  content: { whole: Message; argumentTexts?: string[]; sealed?: string } | { pieces: Pieces }
  /** What readers have received as text before it turned out to be thinking. */
  withdrawnText?: string
}

export interface Pieces {
  text: string
  reasoning: string
  refusal: string
  logprobs: TokenLogprob[]
  /** By the number that the model gave the call. */
  calls: Map<number, CallPieces>
  sent?: SentPrompt
}

export interface CallPieces {
  call_id: string
  name: string
  args: string
  /** The last parsed state of `args`, so that the same text is not parsed again for every reader. */
  read?: { length: number; args: Record<string, unknown> }
}

/**
 * Incomplete arguments are parsed only up to this size, because that is done for every state that readers are
 * shown.
 */
const maxReadArguments = 64 * 1024

export type Terminal = { type: 'end' } | { type: 'interrupted' } | { type: 'error'; error: RunError }

/** The state of a run after an entry, as readers see it. */
export interface RunView {
  lastId: EntryId
  /** Id of the event that shows this state. */
  at: EventId
  complete: boolean
  messages: Map<string, FoldedMessage>
  /** What a model was asked last, for the message `id`. */
  asked: { id: string; sent: SentPrompt } | undefined
  /** How the stream ended. */
  terminal: Terminal | undefined
  /** Since when the model has been failing; undefined while it answers. */
  retryingSince: EventId | undefined
  /** The state is from the database; a reader with an id later than `at` has received all messages. */
  restored: boolean
}

export function emptyView(): RunView {
  return {
    lastId: zeroId,
    at: zeroId,
    complete: false,
    messages: new Map(),
    asked: undefined,
    terminal: undefined,
    retryingSince: undefined,
    restored: false,
  }
}

/**
 * Folds the entries that were published together under `id` into the view. Entries that were folded before are
 * skipped.
 */
export function applyEntries(view: RunView, id: EntryId, entries: RunEntry[]): void {
  if (compareIds(id, view.lastId) <= 0) return
  view.lastId = id
  view.at = laterId(view.at, eventIdOf(id, 'data'))
  view.restored = false
  if (entries.some(({ type }) => type !== 'asked')) view.retryingSince = undefined
  for (const entry of entries) applyEntry(view, view.at, entry)
}

function applyEntry(view: RunView, at: EventId, entry: RunEntry): void {
  switch (entry.type) {
    case 'open':
      view.complete = true
      return
    case 'asked':
      view.asked = entry.sent && { id: entry.id, sent: entry.sent }
      return
    case 'retrying':
      view.retryingSince = at
      return
    case 'resumed':
      view.terminal = undefined
      return
    case 'begin':
      view.terminal = undefined
      if (entry.sent !== undefined) view.asked = { id: entry.id, sent: entry.sent }
      view.messages.set(entry.id, {
        id: entry.id,
        changedAt: at,
        content: {
          pieces: {
            text: '',
            reasoning: '',
            refusal: '',
            logprobs: [],
            calls: new Map(),
            ...(entry.sent === undefined ? {} : { sent: entry.sent }),
          },
        },
      })
      return
    case 'text':
      changePieces(view, at, entry.id, (pieces) => {
        pieces.text += entry.text
      })
      return
    case 'reasoning':
      changePieces(view, at, entry.id, (pieces) => {
        pieces.reasoning += entry.text
      })
      return
    case 'restart':
      changePieces(view, at, entry.id, (pieces, message) => {
        message.withdrawnText = pieces.text
        pieces.reasoning = entry.reasoning
        pieces.text = entry.text
      })
      return
    case 'refusal':
      changePieces(view, at, entry.id, (pieces) => {
        pieces.refusal += entry.text
      })
      return
    case 'logprobs':
      changePieces(view, at, entry.id, ({ logprobs }) => addAll(logprobs, entry.tokens))
      return
    case 'call':
      changePieces(view, at, entry.id, (pieces) => {
        if (!Number.isInteger(entry.index) || entry.index < 0 || entry.index > maxCallIndex) return
        const call = pieces.calls.get(entry.index) ?? { call_id: '', name: '', args: '' }
        pieces.calls.set(entry.index, call)
        call.call_id = entry.call_id ?? call.call_id
        call.name = entry.name ?? call.name
        call.args += entry.args ?? ''
      })
      return
    case 'message': {
      view.terminal = undefined
      const id = entry.message.data.id
      const known = view.messages.get(id)
      // A repeated identical message (a retried step) is not news for readers.
      if (known && 'whole' in known.content && JSON.stringify(known.content.whole) === JSON.stringify(entry.message))
        return
      const argumentTexts = known && 'pieces' in known.content ? argumentTextsOf(known.content.pieces) : undefined
      view.messages.set(id, {
        id,
        changedAt: at,
        content: {
          whole: entry.message,
          ...(argumentTexts === undefined ? {} : { argumentTexts }),
          ...(entry.sealed === undefined ? {} : { sealed: entry.sealed }),
        },
        ...(known?.withdrawnText === undefined ? {} : { withdrawnText: known.withdrawnText }),
      })
      return
    }
    case 'interrupted':
    case 'end':
    case 'error':
      view.terminal = entry
      return
    default:
      entry satisfies never
  }
}

/** A change to an unknown message (its beginning was trimmed) is ignored until the next whole message. */
function changePieces(
  view: RunView,
  at: EventId,
  id: string,
  change: (pieces: Pieces, message: FoldedMessage) => void,
): void {
  const known = view.messages.get(id)
  if (known === undefined || !('pieces' in known.content)) return
  change(known.content.pieces, known)
  known.changedAt = at
}

/** A view that stays as it is while the other goes on. */
export function copyOfView(view: RunView): RunView {
  const messages = [...view.messages].map(([id, message]): [string, FoldedMessage] => {
    if ('whole' in message.content) return [id, { ...message }]
    const { pieces } = message.content
    const calls = [...pieces.calls].map(([index, call]): [number, CallPieces] => [index, { ...call }])
    const copy = { ...pieces, logprobs: [...pieces.logprobs], calls: new Map(calls) }
    return [id, { ...message, content: { pieces: copy } }]
  })
  return { ...view, messages: new Map(messages) }
}

/** The message as a stream shows it: incomplete arguments as the object that can be parsed so far. */
export function toMessage(folded: FoldedMessage): Message {
  if ('whole' in folded.content) return folded.content.whole
  const { text, reasoning, refusal, calls } = folded.content.pieces
  const toolCalls = inOrder(calls)
    .filter((call) => call.name !== '')
    .map(toCallPart)
  return {
    type: 'AIMessage',
    data: {
      id: folded.id,
      content: text,
      ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
      ...(refusal === '' ? {} : { refusal }),
      ...(reasoning === '' ? {} : { reasoning }),
    },
  }
}

/** The messages that are whole, in their order. */
export function wholeMessagesOf({ messages }: Pick<RunView, 'messages'>): Message[] {
  return [...messages.values()].flatMap(({ content }) => ('whole' in content ? [content.whole] : []))
}

/** The message of a run that has ended: of an answer that it has begun, what was written is all, and no call was made. */
export function toFinalMessage(folded: FoldedMessage): Message {
  const message = toMessage(folded)
  if ('whole' in folded.content || message.type !== 'AIMessage') return message
  const { tool_calls: _unfinished, ...data } = message.data
  return { type: 'AIMessage', data: { ...data, incomplete: true } }
}

/** The calls of an answer in the order of their numbers. */
export function inOrder<T>(calls: Map<number, T>): T[] {
  return [...calls].toSorted(([a], [b]) => a - b).map(([, call]) => call)
}

/** In the order of the calls, as in the whole message. */
function argumentTextsOf({ calls }: Pieces): string[] {
  return inOrder(calls)
    .filter(({ name }) => name !== '')
    .map(({ args }) => args)
}

function toCallPart(call: CallPieces): ToolCall {
  if (call.read?.length !== call.args.length)
    call.read = { length: call.args.length, args: readPartialObject(cutText(call.args, maxReadArguments)) }
  return { id: call.call_id, name: call.name, args: call.read.args, type: 'tool_call' }
}
