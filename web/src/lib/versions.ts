import type { Message } from '../../../client/src/index.ts'

/** The versions of a question: those that follow the same message. */
export interface Versions {
  /** The ids of the questions, oldest first. */
  ids: string[]
  /** The message that they follow; null for the beginning of the chat. */
  after: string | null
}

/**
 * The messages of a chat as a tree: each follows the one before it in the list, unless it names another (`after`). `last`
 * is the end of the version that is shown; the newest when it is not given.
 */
export function readVersions(messages: Message[], last?: string) {
  const before = new Map<string, string | null>()
  const byId = new Map<string, Message>()
  let newest: string | null = null
  for (const message of messages) {
    const { id } = message.data
    // A message that stands in the list twice would follow itself.
    if (byId.has(id)) continue
    const after = message.type === 'HumanMessage' ? message.data.after : undefined
    before.set(id, after === undefined ? newest : after)
    byId.set(id, message)
    newest = id
  }
  const lineTo = (id: string | null | undefined): Message[] => {
    const line = new Set<Message>()
    for (let at = id; at !== null && at !== undefined; at = before.get(at)) {
      const message = byId.get(at)
      // Messages that follow each other in a circle have no beginning.
      if (message === undefined || line.has(message)) break
      line.add(message)
    }
    return [...line].toReversed()
  }
  const versions = new Map<string | null, string[]>()
  for (const { type, data } of byId.values()) {
    if (type !== 'HumanMessage') continue
    const after = before.get(data.id) ?? null
    versions.set(after, [...(versions.get(after) ?? []), data.id])
  }
  return {
    /** The messages that are shown, in order. */
    line: lineTo(last !== undefined && byId.has(last) ? last : newest),

    of(questionId: string): Versions {
      const after = before.get(questionId) ?? null
      return { ids: versions.get(after) ?? [], after }
    },

    /** The newest message that comes after a question in its version; undefined if that is the newest of all. */
    endOf(questionId: string): string | undefined {
      const end = messages.findLast(({ data }) => lineTo(data.id).some((message) => message.data.id === questionId))
      return end === undefined || end.data.id === newest ? undefined : end.data.id
    },
  }
}
