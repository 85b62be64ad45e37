import type { Schemas } from './create-client.ts'

export type Message = Schemas['Message']

/**
 * The messages after further ones: a message with a known id replaces the earlier one in place, others are
 * appended.
 */
export function foldMessages(messages: readonly Message[], changed: readonly Message[]): Message[] {
  const result = [...messages]
  const places = new Map(result.map((message, place) => [message.data.id, place]))
  for (const message of changed) {
    const place = places.get(message.data.id)
    if (place === undefined) places.set(message.data.id, result.push(message) - 1)
    else result[place] = message
  }
  return result
}
