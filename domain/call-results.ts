import type { Message } from './messages.ts'
import type { ToolCallRecord } from './records/tool-call.ts'

export type ToolMessage = Extract<Message, { type: 'ToolMessage' }>

/** By the id of an answer, the results of its calls in their order; undefined for a call without a result. */
export type CallResults = ReadonlyMap<string, readonly (ToolMessage | undefined)[]>

/**
 * Finds the result of each call of a conversation. Models number the calls of each answer anew, so the same id can occur
 * in many answers: a result belongs to the nearest answer before it that has a call with its id and without a result.
 * Results without such a call are left out.
 */
export function resultsOfCalls(messages: readonly Message[]): CallResults {
  const results = new Map<string, (ToolMessage | undefined)[]>()
  /** By id, the calls without a result, oldest first. */
  const open = new Map<string, { answer: string; index: number }[]>()
  for (const message of messages) {
    if (message.type === 'AIMessage') {
      const { id: answer, tool_calls: calls = [] } = message.data
      const none = calls.map((): ToolMessage | undefined => undefined)
      results.set(answer, none)
      for (const [index, { id }] of calls.entries()) {
        const waiting = open.get(id) ?? []
        waiting.push({ answer, index })
        open.set(id, waiting)
      }
    } else if (message.type === 'ToolMessage') {
      const waiting = open.get(message.data.tool_call_id) ?? []
      const nearest = waiting.at(-1)?.answer
      const first = waiting.findLastIndex(({ answer }) => answer !== nearest) + 1
      const [call] = waiting.splice(first, 1)
      const found = call && results.get(call.answer)
      if (call !== undefined && found !== undefined) found[call.index] = message
    }
  }
  return results
}

/** The ids of the results that calls have. A decision about a call is told as its result until the call is made. */
export function notifiedDecisions(messages: readonly Message[]): ReadonlySet<string> {
  const results = [...resultsOfCalls(messages).values()].flat()
  return new Set(results.flatMap((result) => (result === undefined ? [] : [result.data.id])))
}

/** For a call that may or may not have taken effect. */
export const unknownOutcome =
  'The outcome of this call is not known: it may or may not have taken effect. It was not repeated.'

/** The result of a call as the model is told. */
export function toolMessageOf(call: ToolCallRecord): Message {
  return {
    type: 'ToolMessage',
    data: {
      id: toolMessageId(call),
      content: call.result ?? unknownOutcome,
      tool_call_id: call.call_id,
      name: call.name,
      ...(call.parts === undefined || call.parts.length === 0 ? {} : { parts: call.parts }),
      ...(call.decision?.action === 'reject' ? { rejected: true } : {}),
      ...(call.asked === undefined ? {} : { asked: call.asked }),
    },
  }
}

/** The id of the message with a call's result. */
function toolMessageId(call: Pick<ToolCallRecord, '_id'>): string {
  return `tool-${call._id.replaceAll('/', '-')}`
}
