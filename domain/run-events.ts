import { type EntryId, type EventId, compareIds, eventIdOf, laterId, zeroId } from './event-ids.ts'
import { type Message, type ToolCall, maxCallIndex } from './messages.ts'
import { readPartialObject } from './partial-json.ts'
import type { RunError } from './records/run.ts'

/**
 * What a run writes to its stream: small changes. Readers fold them into whole messages. An `error`
 * or `end` closes the stream; `interrupted` closes it until the run is resumed.
 */
export type RunEntry =
  /** The run's first entry: a stream that does not begin with it has lost its beginning. */
  | { type: 'open' }
  /** An assistant message starts, or starts anew after a failed attempt. */
  | { type: 'begin'; id: string }
  | { type: 'text'; id: string; text: string }
  /** A piece of a tool call: `args` is the next part of the arguments' JSON text. Id and name are left out when they are as before. */
  | { type: 'call'; id: string; index: number; call_id?: string; name?: string; args?: string }
  /** A whole message, in place of what was known under its id. */
  | { type: 'message'; message: Message }
  /** The model failed, and is asked again. */
  | { type: 'retrying' }
  | { type: 'interrupted' }
  /** An interrupted run goes on. */
  | { type: 'resumed' }
  | { type: 'end' }
  | { type: 'error'; error: RunError }

export interface FoldedMessage {
  changedAt: EventId
  id: string
  /** A whole message, or the pieces so far of one that is still being written. */
  content: { whole: Message } | { pieces: Pieces }
}

export interface Pieces {
  text: string
  /** By the model's own number of the call. */
  calls: Map<number, CallPieces>
}

export interface CallPieces {
  call_id: string
  name: string
  args: string
  /** What was last read of `args`: the same text is not read again for every reader. */
  read?: { length: number; args: Record<string, unknown> }
}

/** Of arguments that are still arriving no more is read: it would be done for every state that readers are shown. */
const maxReadArguments = 64 * 1024

export type Terminal = { type: 'end' } | { type: 'interrupted' } | { type: 'error'; error: RunError }

/** A run as its readers see it after some entry. */
export interface RunView {
  lastId: EntryId
  /** Id of the event that shows this state. */
  at: EventId
  complete: boolean
  messages: Map<string, FoldedMessage>
  /** How the stream ends. */
  terminal: Terminal | undefined
  /** Since when the model has failed and is asked again; undefined while it answers. */
  retryingSince: EventId | undefined
  /** The state is from the database, which knows that a reader with a later id than `at` has seen all messages. */
  restored: boolean
}

export function emptyView(): RunView {
  return {
    lastId: zeroId,
    at: zeroId,
    complete: false,
    messages: new Map(),
    terminal: undefined,
    retryingSince: undefined,
    restored: false,
  }
}

/** Folds the entries that were published together under `id` into the view. Entries already seen are passed over. */
export function applyEntries(view: RunView, id: EntryId, entries: RunEntry[]): void {
  if (compareIds(id, view.lastId) <= 0) return
  view.lastId = id
  view.at = laterId(view.at, eventIdOf(id, 'data'))
  view.restored = false
  view.retryingSince = undefined
  for (const entry of entries) applyEntry(view, view.at, entry)
}

function applyEntry(view: RunView, at: EventId, entry: RunEntry): void {
  switch (entry.type) {
    case 'open':
      view.complete = true
      return
    case 'retrying':
      view.retryingSince = at
      return
    case 'resumed':
      view.terminal = undefined
      return
    case 'begin':
      view.terminal = undefined
      view.messages.set(entry.id, { id: entry.id, changedAt: at, content: { pieces: { text: '', calls: new Map() } } })
      return
    case 'text':
      changePieces(view, at, entry.id, (pieces) => {
        pieces.text += entry.text
      })
      return
    case 'call':
      changePieces(view, at, entry.id, (pieces) => {
        // What an earlier version took from a model unchecked may still be in a stream.
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
      // The same message again (a step that reports twice) is no news for a reader.
      if (known && 'whole' in known.content && JSON.stringify(known.content.whole) === JSON.stringify(entry.message))
        return
      view.messages.set(id, { id, changedAt: at, content: { whole: entry.message } })
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

/** A change to a message that is not known (its beginning was trimmed away) waits for the next whole one. */
function changePieces(view: RunView, at: EventId, id: string, change: (pieces: Pieces) => void): void {
  const known = view.messages.get(id)
  if (known === undefined || !('pieces' in known.content)) return
  change(known.content.pieces)
  known.changedAt = at
}

/** The message as a stream shows it: of arguments still arriving, the object that can be read so far. */
export function shownMessage(folded: FoldedMessage): Message {
  if ('whole' in folded.content) return folded.content.whole
  const { text, calls } = folded.content.pieces
  const toolCalls = inOrder(calls)
    .filter((call) => call.name !== '')
    .map(shownCall)
  return {
    type: 'AIMessage',
    data: { id: folded.id, content: text, ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}) },
  }
}

/** The calls of an answer in the order of their numbers. */
export function inOrder<T>(calls: Map<number, T>): T[] {
  return [...calls].toSorted(([a], [b]) => a - b).map(([, call]) => call)
}

function shownCall(call: CallPieces): ToolCall {
  if (call.read?.length !== call.args.length)
    call.read = { length: call.args.length, args: readPartialObject(call.args.slice(0, maxReadArguments)) }
  return { id: call.call_id, name: call.name, args: call.read.args, type: 'tool_call' }
}
