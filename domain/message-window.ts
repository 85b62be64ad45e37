import type { Message } from './messages.ts'

/**
 * The newest messages of a conversation that fit into `maxBytes`, collected while its log is read from the
 * beginning; older ones are counted and not kept, so that reading a long conversation needs no more memory than its
 * answer. The newest message stays whatever its size. With `before`, the id of a message, only messages before it
 * are considered.
 */
export function createMessageWindow(maxBytes: number, before?: string) {
  const positions = new Map<string, number>()
  /** By position; those before `first` are left out. */
  const kept: ({ message: Message; bytes: number } | undefined)[] = []
  let first = 0
  let total = 0
  let closed = false

  const isUnknown = () => before !== undefined && !closed

  function leaveOutOldest(): void {
    total -= kept[first]?.bytes ?? 0
    kept[first] = undefined
    first += 1
  }

  return {
    /** A message whose id is known replaces the earlier one in its place, any other is appended. */
    add(message: Message, bytes: number): void {
      const { id } = message.data
      if (id === before) closed = true
      const known = positions.get(id)
      if (known === undefined && closed) return
      const position = known ?? kept.length
      if (known === undefined) positions.set(id, position)
      if (position < first) return
      total += bytes - (kept[position]?.bytes ?? 0)
      kept[position] = { message, bytes }
      while (total > maxBytes && first < kept.length - 1) leaveOutOldest()
    },

    /** Oldest first. Nothing when the message that `before` names was not among them. */
    messages(): Message[] {
      if (isUnknown()) return []
      return kept.slice(first).flatMap((entry) => (entry === undefined ? [] : [entry.message]))
    },

    /** How many older messages were left out. */
    omitted: (): number => (isUnknown() ? 0 : first),
  }
}
