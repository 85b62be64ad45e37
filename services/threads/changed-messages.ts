import { type Message, messagesToJson } from '../../domain/messages.ts'
import { wordsOf } from '../../domain/search/message-terms.ts'

/** What is set in an entry of a log whose messages were changed. `search`: the entry is found by its words. */
export function changedMessages(messages: readonly Message[], search: object | undefined) {
  const changed = { messages_json: messagesToJson(messages) }
  return search === undefined ? changed : { ...changed, 'search.words': wordsOf(messages) }
}
