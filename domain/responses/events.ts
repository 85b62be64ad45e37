import { createCanonicalArguments } from '../canonical-arguments.ts'
import { type CallResults, resultsOfCalls } from '../conversation.ts'
import type { AIMessage, ToolCall } from '../messages.ts'
import { type CallPieces, type FoldedMessage, toFinalMessage, toMessage } from '../run-events.ts'
import { clientCall, functionCall } from './client-calls.ts'
import type { ResponseEventType } from './event-types.ts'
import { messageItemId, reasoningItemId } from './ids.ts'
import {
  type ItemContext,
  approvalRequest,
  awaitsApproval,
  isFunction,
  messageItem,
  reasoningItem,
  serverCall,
  textPart,
} from './items-of.ts'
import type { ClientCall, Compaction, FunctionCall, McpListTools, OutputItem } from './items.ts'
import { pieceEnd } from './text-pieces.ts'

/** An event without its number. */
export interface ResponseEvent {
  type: ResponseEventType
  [member: string]: unknown
}

/** The events of one output item, which go on when more of its message is known. */
type Progress = Generator<ResponseEvent, void, void>

/** The messages of a run as they are now. */
interface Shown {
  messages: FoldedMessage[]
  results: CallResults
  /** The run has ended: nothing more comes. */
  isOver: boolean
}

/**
 * Converts the messages of a run into the events of the responses API. Which events there are, and in which order,
 * depends on the messages alone, and not on when they became known: a stream that is read again has the same events with
 * the same numbers.
 */
export function createOutputEvents(context: ItemContext, first: readonly (Compaction | McpListTools)[] = []) {
  let shown: Shown = { messages: [], results: new Map(), isOver: false }
  let contradicted = false
  let outputIndex = 0
  const all = walk()

  return {
    /** The new events. `contradicted`: the state contradicts what was sent. */
    advance(folded: FoldedMessage[], isOver: boolean): { events: ResponseEvent[]; contradicted: boolean } {
      shown = { messages: folded, results: resultsOfCalls(folded.map(toMessage)), isOver }
      const events: ResponseEvent[] = []
      for (let next = all.next(); !next.done && next.value !== undefined; next = all.next()) events.push(next.value)
      return { events, contradicted }
    },
  }

  /** Yields undefined when the next event is not known yet. */
  function* walk(): Generator<ResponseEvent | undefined, void, void> {
    for (const item of first) {
      if (item.type === 'mcp_list_tools') yield* listedTools(item)
      else yield* wholeItem(item)
    }
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

  function* listedTools(item: McpListTools): Progress {
    const location = { item_id: item.id, output_index: outputIndex }
    yield { type: 'response.output_item.added', output_index: outputIndex, item: { ...item, tools: [] } }
    yield { type: 'response.mcp_list_tools.in_progress', ...location }
    yield { type: 'response.mcp_list_tools.completed', ...location }
    yield done(item)
  }

  function* wholeItem(item: OutputItem): Progress {
    yield { type: 'response.output_item.added', output_index: outputIndex, item }
    yield done(item)
  }

  function* answer(at: number): Generator<ResponseEvent | undefined, void, void> {
    yield* thoughtOf(at)
    const sent = yield* textOf(at)
    for (let index = 0; !contradicted; index++) {
      while (begunCall(at, index) === undefined && !read(at).isWhole) yield undefined
      const { message, isWhole } = read(at)
      const call = message.data.tool_calls?.[index]
      if (!isWhole) yield* streamedCall(at, index)
      else if (call === undefined) break
      else yield* callOf(at, message, { index, call })
    }
    // The text was taken as whole when the first call began; what a model adds to it afterwards has no event.
    contradicted ||= !read(at).message.data.content.startsWith(sent)
    if (contradicted) yield* waitForEver()
  }

  /** A function of the client that the model is calling; its other calls are shown when they are whole. */
  function begunCall(at: number, index: number): CallPieces | undefined {
    const content = shown.messages[at]?.content
    if (content === undefined || 'whole' in content || shown.isOver) return undefined
    for (let before = 0; before < index; before++) if (!content.pieces.calls.has(before)) return undefined
    const call = content.pieces.calls.get(index)
    return call !== undefined && call.call_id !== '' && isStreamed(call.name) ? call : undefined
  }

  /** Of tools that are no functions the model writes arguments that its client does not know. */
  function isStreamed(name: string): boolean {
    if (context.functions?.has(name) !== true) return false
    return (context.shapes.get(name)?.type ?? 'function') === 'function'
  }

  function callOfFunction(messageId: string, index: number, call: ToolCall): FunctionCall {
    const shape = context.shapes.get(call.name)
    return functionCall(messageId, index, call, shape?.type === 'function' ? shape : undefined)
  }

  function* streamedCall(at: number, index: number): Generator<ResponseEvent | undefined, void, void> {
    const first = begunCall(at, index)
    if (first === undefined) return
    const { call_id: id, name } = first
    const begun = callOfFunction(read(at).message.data.id, index, { id, name, args: {}, type: 'tool_call' })
    const location = yield* callBegun(begun)
    const canonical = createCanonicalArguments()
    let sent = ''
    for (;;) {
      const now = begunCall(at, index)
      const { message, isWhole } = read(at)
      if (isWhole) {
        const call = message.data.tool_calls?.[index]
        // The run has ended within the call, which was not made.
        if (call === undefined && shown.isOver) return
        const item = call && callOfFunction(message.data.id, index, call)
        contradicted =
          item === undefined || item.call_id !== id || item.name !== begun.name || !isContinued(item.arguments)
        if (item === undefined || contradicted) return
        if (item.arguments.startsWith(sent)) yield* pieces(item.arguments, sent.length, location)
        yield* callEnd(item, location)
        return
      }
      const known = canonical.read(now?.args ?? '')
      if (known.isWhole && known.text.startsWith(sent) && begunCall(at, index + 1) !== undefined) {
        yield* pieces(known.text, sent.length, location)
        yield* callEnd({ ...begun, arguments: known.text }, location)
        return
      }
      // An attempt that begins again is skipped until it is as long as what was sent.
      const end = known.text.startsWith(sent) ? pieceEnd(known.text, sent.length, false) : undefined
      if (end === undefined) {
        yield undefined
        continue
      }
      const delta = known.text.slice(sent.length, end)
      sent = known.text.slice(0, end)
      yield { type: 'response.function_call_arguments.delta', ...location, delta }
    }

    /** Arguments that are no object are stored as what can be read of them, which may be less than was sent. */
    function isContinued(text: string): boolean {
      if (text.startsWith(sent)) return true
      const content = shown.messages[at]?.content
      const source = content !== undefined && 'whole' in content ? content.argumentTexts?.[index] : undefined
      return source !== undefined && canonical.read(source).text.startsWith(sent)
    }
  }

  function* callBegun(item: FunctionCall): Generator<ResponseEvent, { item_id: string; output_index: number }, void> {
    const location = { item_id: item.id, output_index: outputIndex }
    const begun = { ...item, status: 'in_progress', arguments: '' }
    yield { type: 'response.output_item.added', output_index: outputIndex, item: begun }
    return location
  }

  /** A call of the client's tool that is no function. */
  function* otherCall(item: Exclude<ClientCall, FunctionCall>): Progress {
    const begun = item.type === 'custom_tool_call' ? { ...item, input: '' } : item
    yield {
      type: 'response.output_item.added',
      output_index: outputIndex,
      item: { ...begun, status: 'in_progress' },
    }
    if (item.type === 'custom_tool_call') {
      const location = { item_id: item.id, output_index: outputIndex }
      for (const delta of piecesOf(item.input))
        yield { type: 'response.custom_tool_call_input.delta', ...location, delta }
      yield { type: 'response.custom_tool_call_input.done', ...location, input: item.input }
    }
    yield done(item)
  }

  function* callEnd(item: FunctionCall, location: object): Progress {
    yield { type: 'response.function_call_arguments.done', ...location, name: item.name, arguments: item.arguments }
    yield done(item)
  }

  /** Returns the text that was sent. */
  function* textOf(at: number): Generator<ResponseEvent | undefined, string, void> {
    let sent = ''
    let place: { item_id: string; output_index: number; content_index: number } | undefined
    for (;;) {
      const { message, isWhole } = read(at)
      const { content: text, refusal, tool_calls: calls = [], id } = message.data
      // An attempt that begins again is skipped until it is as long as what was sent.
      if (!text.startsWith(sent)) {
        contradicted = isWhole || !sent.startsWith(text)
        if (contradicted) return sent
        yield undefined
        continue
      }
      const isEnded = isWhole || begunCall(at, 0) !== undefined
      const end = pieceEnd(text, sent.length, isEnded)
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
      if (!isEnded) {
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
      return sent
    }
  }

  /**
   * What the model thinks. An attempt that begins again may think otherwise: then the item ends with what is stored, and
   * the answer goes on.
   */
  function* thoughtOf(at: number): Generator<ResponseEvent | undefined, void, void> {
    const isSummary = context.reasoning?.isSummary ?? false
    const inPart = isSummary ? { summary_index: 0 } : { content_index: 0 }
    const kind = isSummary ? 'response.reasoning_summary_text' : 'response.reasoning_text'
    const part = (event: 'added' | 'done', text: string): ResponseEvent => ({
      type: isSummary ? `response.reasoning_summary_part.${event}` : `response.content_part.${event}`,
      ...place,
      part: { type: isSummary ? 'summary_text' : 'reasoning_text', text },
    })
    let sent = ''
    let place: object | undefined
    for (;;) {
      const { message, isWhole } = read(at)
      const { reasoning = '', content, refusal, id } = message.data
      const isEnded = isWhole || content !== '' || refusal !== undefined || hasBegunCall(at)
      const end = reasoning.startsWith(sent) ? pieceEnd(reasoning, sent.length, isEnded) : undefined
      if (end !== undefined) {
        if (place === undefined) {
          place = { item_id: reasoningItemId(id), output_index: outputIndex, ...inPart }
          const item = { ...reasoningItem(message, {}), status: 'in_progress', summary: [], content: [] }
          yield { type: 'response.output_item.added', output_index: outputIndex, item }
          yield part('added', '')
        }
        const delta = reasoning.slice(sent.length, end)
        sent = reasoning.slice(0, end)
        yield { type: `${kind}.delta`, ...place, delta }
        continue
      }
      if (!isEnded) {
        yield undefined
        continue
      }
      if (place === undefined) return
      yield { type: `${kind}.done`, ...place, text: reasoning }
      yield part('done', reasoning)
      yield done(reasoningItem(message, context))
      return
    }
  }

  /** What its provider must get back with a call is known with the whole answer, and is sealed with the thought. */
  function hasBegunCall(at: number): boolean {
    return context.reasoning?.seal === undefined && begunCall(at, 0) !== undefined
  }

  function messageAdded(message: AIMessage): ResponseEvent {
    const item = { ...messageItem(empty(message), context), status: 'in_progress' as const, content: [] }
    return { type: 'response.output_item.added', output_index: outputIndex, item }
  }

  function* textEnd(message: AIMessage, location: object): Progress {
    const part = textPart(message, context)
    for (const [index, annotation] of part.annotations.entries())
      yield { type: 'response.output_text.annotation.added', ...location, annotation_index: index, annotation }
    yield { type: 'response.output_text.done', ...location, text: part.text, logprobs: part.logprobs }
    yield { type: 'response.content_part.done', ...location, part }
  }

  function* callOf(
    at: number,
    { data: { id: messageId } }: AIMessage,
    { index, call }: { index: number; call: ToolCall },
  ): Generator<ResponseEvent | undefined, void, void> {
    const result = () => shown.results.get(messageId)?.[index]
    if (isFunction(call, result(), context)) {
      const item = clientCall({ messageId, index, call }, context.shapes)
      if (item.type === 'function_call') {
        const location = yield* callBegun(item)
        yield* pieces(item.arguments, 0, location)
        yield* callEnd(item, location)
      } else yield* otherCall(item)
      return
    }
    if (awaitsApproval(call, result(), context)) {
      yield* wholeItem(approvalRequest({ messageId, index, call }, context))
      return
    }
    const begun = serverCall({ messageId, index, call, result: undefined }, { ...context, isOpen: true })
    const location = { item_id: begun.id, output_index: outputIndex }
    yield {
      type: 'response.output_item.added',
      output_index: outputIndex,
      item:
        begun.type === 'mcp_call'
          ? { ...begun, arguments: '' }
          : begun.type === 'code_interpreter_call'
            ? { ...begun, code: '' }
            : begun,
    }
    yield { type: `response.${begun.type}.in_progress`, ...location }
    if (begun.type === 'mcp_call') {
      yield { type: 'response.mcp_call_arguments.delta', ...location, delta: begun.arguments }
      yield { type: 'response.mcp_call_arguments.done', ...location, arguments: begun.arguments }
    } else if (begun.type === 'code_interpreter_call') {
      const { type, code } = begun
      for (const delta of piecesOf(code ?? '')) yield { type: `response.${type}_code.delta`, ...location, delta }
      yield { type: `response.${type}_code.done`, ...location, code }
      yield { type: `response.${type}.interpreting`, ...location }
    } else yield { type: `response.${begun.type}.searching`, ...location }
    while (result() === undefined && !shown.isOver) yield undefined
    const ended = serverCall({ messageId, index, call, result: result() }, { ...context, isOpen: false })
    if (result() !== undefined) yield { type: `response.${begun.type}.completed`, ...location }
    yield done(ended)
  }

  function done(item: OutputItem): ResponseEvent {
    return { type: 'response.output_item.done', output_index: outputIndex++, item }
  }

  /** A message as it is now. After the end of the run, what was written so far is all of it. */
  function read(at: number): { message: AIMessage; isWhole: boolean } {
    const folded = shown.messages[at]
    const message = folded && (shown.isOver ? toFinalMessage(folded) : toMessage(folded))
    if (folded === undefined || message?.type !== 'AIMessage') throw new Error('an answer has become something else')
    return { message, isWhole: shown.isOver || 'whole' in folded.content }
  }
}

/** A refusal is short: it comes as one piece. */
function* refusalPart(refusal: string, location: object): Progress {
  yield { type: 'response.content_part.added', ...location, part: { type: 'refusal', refusal: '' } }
  yield { type: 'response.refusal.delta', ...location, delta: refusal }
  yield { type: 'response.refusal.done', ...location, refusal }
  yield { type: 'response.content_part.done', ...location, part: { type: 'refusal', refusal } }
}

/** The rest of the arguments of a function. */
function* pieces(text: string, from: number, location: object): Progress {
  for (const delta of piecesOf(text, from)) yield { type: 'response.function_call_arguments.delta', ...location, delta }
}

/** A text that is whole, in the pieces that it always has. */
function* piecesOf(text: string, from = 0): Generator<string, void, void> {
  for (let start = from, end = pieceEnd(text, start, true); end !== undefined; end = pieceEnd(text, start, true)) {
    yield text.slice(start, end)
    start = end
  }
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
