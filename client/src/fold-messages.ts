import type { Schemas } from './create-client.ts'

export type Message = Schemas['Message']
/** What a `data` event carries: whole messages, and in streams of mode `deltas` the text that was added to one. */
export type StreamedMessage = Schemas['RunDataEvent'][number]

/**
 * The messages after further ones: a whole message with a known id replaces the earlier one in place, others are
 * appended. A delta adds to the text of its message, and to its reasoning; without that message it is ignored, because
 * a whole one follows.
 */
export function foldMessages(messages: readonly Message[], changed: readonly StreamedMessage[]): Message[] {
  const result = [...messages]
  const positions = new Map(result.map((message, position) => [message.data.id, position]))
  for (const message of changed) {
    const position = positions.get(message.data.id)
    const known = position === undefined ? undefined : result[position]
    if (message.type === 'AIMessageDelta') {
      if (position === undefined || known?.type !== 'AIMessage') continue
      const { content, reasoning } = message.data
      const thought = reasoning === undefined ? {} : { reasoning: (known.data.reasoning ?? '') + reasoning }
      result[position] = { ...known, data: { ...known.data, content: known.data.content + content, ...thought } }
    } else if (position === undefined) positions.set(message.data.id, result.push(message) - 1)
    else result[position] = message
  }
  return result
}
