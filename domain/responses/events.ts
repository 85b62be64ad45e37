import type { AIMessage, ToolCall } from '../messages.ts'
import { type FoldedMessage, shownMessage } from '../run-events.ts'
import { messageItemId } from './ids.ts'
import {
  type ItemContext,
  type Results,
  functionCall,
  isFunction,
  messageItem,
  resultsOf,
  serverCall,
  textPart,
} from './items-of.ts'
import type { OutputItem } from './items.ts'
import { pieceEnd } from './text-pieces.ts'

/** An event without its number. */
export interface ResponseEvent {
  type: string
  [member: string]: unknown
}

/** The events of one output item, which go on when more of its message is known. */
type Progress = Generator<ResponseEvent, void, void>

/** The messages of a run as they are now. */
interface Shown {
  messages: FoldedMessage[]
  results: Results
  /** The run has ended: nothing more comes. */
  isOver: boolean
}

/**
 * Converts the messages of a run into the events of the responses API. Which events there are, and in which order,
 * depends on the messages alone, and not on when they became known: a stream that is read again has the same events with
 * the same numbers.
 */
export function createOutputEvents(context: ItemContext) {
  let shown: Shown = { messages: [], results: new Map(), isOver: false }
  let contradicted = false
  let outputIndex = 0
  const all = walk()

  return {
    /** The new events. `contradicted`: the state contradicts what was sent. */
    advance(folded: FoldedMessage[], isOver: boolean): { events: ResponseEvent[]; contradicted: boolean } {
      shown = { messages: folded, results: resultsOf(folded.map(shownMessage)), isOver }
      const events: ResponseEvent[] = []
      for (let next = all.next(); !next.done && next.value !== undefined; next = all.next()) events.push(next.value)
      return { events, contradicted }
    },
  }

  /** Yields undefined when the next event is not known yet. */
  function* walk(): Generator<ResponseEvent | undefined, void, void> {
    for (let at = 0; ;) {
      const message = shown.messages[at]
      if (message === undefined) {
        yield undefined
        continue
      }
      if (isAnswer(message)) yield* answer(at)
      at += 1
    }
  }

  function* answer(at: number): Generator<ResponseEvent | undefined, void, void> {
    yield* textOf(at)
    if (contradicted) return yield* waitForEver()
    const { message, isWhole } = read(at)
    if (!isWhole) return
    for (const [index, call] of (message.data.tool_calls ?? []).entries()) yield* callOf(at, message, { index, call })
  }

  function* textOf(at: number): Generator<ResponseEvent | undefined, void, void> {
    let sent = ''
    let place: { item_id: string; output_index: number; content_index: number } | undefined
    for (;;) {
      const { message, isWhole } = read(at)
      const { content: text, refusal, tool_calls: calls = [], id } = message.data
      // An attempt that begins again is skipped until it is as long as what was sent.
      if (!text.startsWith(sent)) {
        contradicted = isWhole || !sent.startsWith(text)
        if (contradicted) return
        yield undefined
        continue
      }
      const end = pieceEnd(text, sent.length, isWhole)
      const isEmptyText = isWhole && calls.length === 0 && refusal === undefined
      if (place === undefined && (end !== undefined || isEmptyText)) {
        place = { item_id: messageItemId(id), output_index: outputIndex, content_index: 0 }
        yield messageAdded(message)
        yield { type: 'response.content_part.added', ...place, part: textPart(empty(message), context) }
      }
      if (place !== undefined && end !== undefined) {
        const delta = text.slice(sent.length, end)
        sent = text.slice(0, end)
        yield { type: 'response.output_text.delta', ...place, delta, logprobs: [] }
        continue
      }
      if (!isWhole) {
        yield undefined
        continue
      }
      if (place !== undefined) yield* textEnd(message, place)
      else if (refusal !== undefined) yield messageAdded(message)
      if (refusal !== undefined) {
        const index = place === undefined ? 0 : 1
        yield* refusalPart(refusal, { item_id: messageItemId(id), output_index: outputIndex, content_index: index })
      }
      if (place !== undefined || refusal !== undefined) yield done(messageItem(message, context))
      return
    }
  }

  function messageAdded(message: AIMessage): ResponseEvent {
    const item = { ...messageItem(empty(message), context), status: 'in_progress' as const, content: [] }
    return { type: 'response.output_item.added', output_index: outputIndex, item }
  }

  function* textEnd(message: AIMessage, place: object): Progress {
    const part = textPart(message, context)
    for (const [index, annotation] of part.annotations.entries())
      yield { type: 'response.output_text.annotation.added', ...place, annotation_index: index, annotation }
    yield { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] }
    yield { type: 'response.content_part.done', ...place, part }
  }

  function* callOf(
    at: number,
    { data: { id: messageId } }: AIMessage,
    { index, call }: { index: number; call: ToolCall },
  ): Generator<ResponseEvent | undefined, void, void> {
    const result = () => shown.results.get(call.id)
    if (isFunction(call, result(), context)) {
      const item = functionCall(messageId, index, call)
      const place = { item_id: item.id, output_index: outputIndex }
      yield {
        type: 'response.output_item.added',
        output_index: outputIndex,
        item: { ...item, status: 'in_progress', arguments: '' },
      }
      yield { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments }
      yield { type: 'response.function_call_arguments.done', ...place, name: item.name, arguments: item.arguments }
      yield done(item)
      return
    }
    const begun = serverCall({ messageId, index, call, result: undefined }, { ...context, isOpen: true })
    const place = { item_id: begun.id, output_index: outputIndex }
    const kind = `response.${begun.type}`
    yield {
      type: 'response.output_item.added',
      output_index: outputIndex,
      item: begun.type === 'mcp_call' ? { ...begun, arguments: '' } : begun,
    }
    yield { type: `${kind}.in_progress`, ...place }
    if (begun.type === 'mcp_call') {
      yield { type: 'response.mcp_call_arguments.delta', ...place, delta: begun.arguments }
      yield { type: 'response.mcp_call_arguments.done', ...place, arguments: begun.arguments }
    } else yield { type: `${kind}.searching`, ...place }
    while (result() === undefined && !shown.isOver) yield undefined
    const ended = serverCall({ messageId, index, call, result: result() }, { ...context, isOpen: false })
    if (result() !== undefined) yield { type: `${kind}.completed`, ...place }
    yield done(ended)
  }

  function done(item: OutputItem): ResponseEvent {
    return { type: 'response.output_item.done', output_index: outputIndex++, item }
  }

  /** A message as it is now. After the end of the run, what was written so far is all of it. */
  function read(at: number): { message: AIMessage; isWhole: boolean } {
    const folded = shown.messages[at]
    const message = folded && shownMessage(folded)
    if (folded === undefined || message?.type !== 'AIMessage') throw new Error('an answer has become something else')
    if ('whole' in folded.content) return { message, isWhole: true }
    if (!shown.isOver) return { message, isWhole: false }
    const { tool_calls: _unfinished, ...data } = message.data
    return { message: { type: 'AIMessage', data: { ...data, incomplete: true } }, isWhole: true }
  }
}

/** A refusal is short: it comes as one piece. */
function* refusalPart(refusal: string, place: object): Progress {
  yield { type: 'response.content_part.added', ...place, part: { type: 'refusal', refusal: '' } }
  yield { type: 'response.refusal.delta', ...place, delta: refusal }
  yield { type: 'response.refusal.done', ...place, refusal }
  yield { type: 'response.content_part.done', ...place, part: { type: 'refusal', refusal } }
}

function* waitForEver(): Generator<undefined, void, void> {
  for (;;) yield undefined
}

function isAnswer({ content }: FoldedMessage): boolean {
  return 'pieces' in content || content.whole.type === 'AIMessage'
}

function empty({ data: { id } }: AIMessage): AIMessage {
  return { type: 'AIMessage', data: { id, content: '' } }
}
