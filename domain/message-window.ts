import { createMessageLine } from './message-line.ts'
import type { Message } from './messages.ts'

interface WindowOptions {
  /** The id of a message: only messages before it are considered. */
  before?: string | undefined
  /** Whether all versions are wanted, in the order of the log, instead of the newest. */
  allVersions?: boolean | undefined
}

/**
 * The newest messages of a conversation that fit into `maxBytes`, collected while its log is read from the
 * beginning; older ones are counted and not kept, so that reading a long conversation needs no more memory than its
 * answer. The newest message stays whatever its size.
 */
export function createMessageWindow(maxBytes: number, { before, allVersions = false }: WindowOptions = {}) {
  const line = createMessageLine()
  /** By place; those before `first` are left out. */
  const kept: ({ message: Message; bytes: number } | undefined)[] = []
  let first = 0
  let total = 0
  /** The place of the last message that is considered. */
  let end: number | undefined

  const isUnknown = () => before !== undefined && end === undefined

  function leaveOutOldest(): void {
    total -= kept[first]?.bytes ?? 0
    kept[first] = undefined
    first += 1
  }

  function places(): number[] {
    if (isUnknown()) return []
    return allVersions ? [...kept.keys()] : line.places(end)
  }

  return {
    /** A message whose id is known replaces the earlier one in its place, any other is appended. */
    add(message: Message, bytes: number): void {
      const { id } = message.data
      const isKnown = line.placeOf(id) !== undefined
      if (id === before && !isKnown) end = line.before(line.add(message))
      if (end !== undefined && !isKnown) return
      const place = line.add(message)
      if (place < first) return
      total += bytes - (kept[place]?.bytes ?? 0)
      kept[place] = { message, bytes }
      while (total > maxBytes && first < kept.length - 1) leaveOutOldest()
    },

    /** Oldest first. Nothing when the message that `before` names was not among them. */
    messages: (): Message[] => places().flatMap((place) => kept[place]?.message ?? []),

    /** How many older messages were left out. */
    omitted: (): number => places().filter((place) => place < first).length,
  }
}
