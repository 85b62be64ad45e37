import { createCanonicalArguments } from '../../../domain/canonical-arguments.ts'
import { type FoldedMessage, inOrder } from '../../../domain/run-events.ts'
import { codeToolName } from '../../../domain/responses/written-files.ts'
import { codeDelta } from './code-deltas.ts'
import { type CallDelta, type StepCall, stepCalls } from './run-steps.ts'

/**
 * How much of the calls of a run's answers a reader has received. Arguments have the form in which they are stored, so
 * that all parts together are what the call says afterwards.
 */
export function createCallProgress() {
  const sentCalls = new Map<string, StepCall[]>()
  const readers = new Map<string, ReturnType<typeof createCanonicalArguments>>()

  function readerOf(name: string) {
    const reader = readers.get(name) ?? createCanonicalArguments()
    readers.set(name, reader)
    return reader
  }

  /** Calls whose beginning is known, up to the first that is missing. */
  function callsIn({ id: messageId, content }: FoldedMessage): StepCall[] {
    if ('whole' in content) return content.whole.type === 'AIMessage' ? stepCalls(content.whole.data.tool_calls) : []
    const calls = inOrder(content.pieces.calls).map(({ call_id: id, name, args }, index) => ({
      id,
      name,
      arguments: readerOf(`${messageId}/${index}`).read(args).text,
    }))
    const missing = calls.findIndex(({ id, name }) => id === '' || name === '')
    return missing < 0 ? calls : calls.slice(0, missing)
  }

  return {
    /** Whether a later attempt makes other calls than those that were sent. */
    isContradicted(folded: FoldedMessage): boolean {
      const isWhole = 'whole' in folded.content
      const calls = callsIn(folded)
      return (sentCalls.get(folded.id) ?? []).some((sent, index) => {
        const call = calls[index]
        if (call === undefined) return isWhole
        if (call.id !== sent.id || call.name !== sent.name) return true
        return !call.arguments.startsWith(sent.arguments) && (isWhole || !sent.arguments.startsWith(call.arguments))
      })
    },

    /** What is new. An attempt that begins again is skipped until it is as long as what was sent. */
    advance(folded: FoldedMessage): CallDelta[] {
      const sent = sentCalls.get(folded.id) ?? []
      const deltas: CallDelta[] = []
      const now = callsIn(folded).map((call, index): StepCall => {
        const before = sent[index]
        if (before === undefined) deltas.push({ index, call })
        const told = before?.arguments ?? ''
        if (before !== undefined && !call.arguments.startsWith(told)) return before
        if (call.arguments !== told) deltas.push({ index, call, more: call.arguments.slice(told.length) })
        return call
      })
      sentCalls.set(folded.id, [...now, ...sent.slice(now.length)])
      return deltas
    },

    sent: (messageId: string): StepCall[] => sentCalls.get(messageId) ?? [],
    forget: (messageId: string) => void sentCalls.delete(messageId),
  }
}

/** As a step's deltas show it. The interface shows no arguments of searches. */
export function shownDelta(delta: CallDelta): object | undefined {
  const {
    index,
    call: { id, name },
    more,
  } = delta
  if (name === codeToolName) return codeDelta(delta)
  if (name === 'retrieval') return more === undefined ? { index, id, type: 'file_search', file_search: {} } : undefined
  return more === undefined
    ? { index, id, type: 'function', function: { name, arguments: '', output: null } }
    : { index, type: 'function', function: { arguments: more } }
}
