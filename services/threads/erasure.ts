import { addAll } from '../../domain/add-all.ts'
import { type Message, messagesToJson, storedMessagesFromJson, withoutMetadata } from '../../domain/messages.ts'
import { isOfClient } from '../../domain/responses/ids.ts'

/** Which words of a thread are deleted. */
export interface Erasure {
  messageIds: readonly string[]
  /** What is left of one of these messages, in each of its versions. Default: nothing. */
  left?: (message: Message) => Message[]
  /** The number of the only call that goes, with its result. Default: all calls of these messages go. */
  call?: number
  /** What is shown in the place of the messages. */
  tombstones?: Message[]
  /** Results that the client has sent stay: they are items of their own. */
  keepsClientResults?: boolean
}

/** Ids by which an entry is passed over without parsing it; more are not cheaper than that. */
const maxSoughtIds = 20

interface Change {
  left: Message[]
  /** Messages of which something goes, as they were. */
  gone: Message[]
  /** The numbers of the calls that go. */
  calls: number[]
}

/**
 * Applies an erasure to texts of a log, oldest first. Results follow their calls, and the id of a call may come again:
 * a later call with this id ends what belongs to the first.
 */
export function eraser(
  { messageIds, left = () => [], call: onlyCall, keepsClientResults = false }: Erasure,
  callsBefore: ReadonlySet<string> = new Set(),
) {
  const ids = new Set(messageIds)
  const openCalls = new Set(callsBefore)

  function isConcerned(json: string): boolean {
    const sought = [...ids, ...openCalls]
    return sought.length > maxSoughtIds || sought.some((id) => json.includes(JSON.stringify(id).slice(1, -1)))
  }

  function restOf(message: Message, change: Change): Message[] {
    if (ids.has(message.data.id)) {
      const calls = message.type === 'AIMessage' ? (message.data.tool_calls ?? []) : []
      calls.forEach(({ id }, index) => {
        if (onlyCall !== undefined && onlyCall !== index) return
        openCalls.add(id)
        change.calls.push(index)
      })
      // What its provider must get back was about the whole message.
      return left(message).map((rest) => (rest === message ? rest : withoutMetadata(rest)))
    }
    if (message.type === 'AIMessage') for (const { id } of message.data.tool_calls ?? []) openCalls.delete(id)
    if (message.type !== 'ToolMessage' || !openCalls.has(message.data.tool_call_id)) return [message]
    return keepsClientResults && isOfClient(message.data.id) ? [message] : []
  }

  return {
    openCalls,
    /** Undefined if nothing in it is concerned. */
    apply(json: string): Change | undefined {
      if (!isConcerned(json)) return undefined
      const change: Change = { left: [], gone: [], calls: [] }
      for (const message of storedMessagesFromJson(json)) {
        const rest = restOf(message, change)
        addAll(change.left, rest)
        if (rest.length !== 1 || rest[0] !== message) change.gone.push(message)
      }
      return messagesToJson(change.left) === json ? undefined : change
    },
  }
}
