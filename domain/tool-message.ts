import type { Message } from './messages.ts'
import type { ToolCallRecord } from './records/tool-call.ts'

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
