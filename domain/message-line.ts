/** What the order of a conversation needs of a `Message`. */
interface LineMessage {
  type: string
  data: { id: string; after?: string | null }
}

/**
 * Which messages of a log are the conversation. A message follows the newest one before it, unless it is a person's and
 * names another (`after`): then it begins a new version of what followed that one. The conversation is the way from the
 * newest message back to its first. System messages belong to all versions.
 */
export function createMessageLine() {
  const placeOf = new Map<string, number>()
  /** By place: the place of the message before; -1 for a first message. */
  const before: number[] = []
  const system = new Set<number>()
  let newest = -1
  let hasVersions = false

  return {
    /** The place of a message, in the order of the log. A message whose id is known takes the earlier one's place. */
    add({ type, data }: LineMessage): number {
      const known = placeOf.get(data.id)
      if (known !== undefined) return known
      const place = before.length
      const after = type === 'HumanMessage' ? data.after : undefined
      const previous = after === undefined ? newest : after === null ? -1 : (placeOf.get(after) ?? -1)
      if (previous !== newest) hasVersions = true
      if (type === 'SystemMessage') system.add(place)
      placeOf.set(data.id, place)
      before.push(previous)
      newest = place
      return place
    },

    placeOf: (id: string): number | undefined => placeOf.get(id),

    /** The places of the conversation in order; with `last`, of the version that ends there. */
    places(last = newest): number[] {
      if (!hasVersions) return Array.from({ length: last + 1 }, (_, place) => place)
      const line = new Set([...system].filter((place) => place <= last))
      for (let place = last; place >= 0; place = before[place] ?? -1) line.add(place)
      return [...line].toSorted((a, b) => a - b)
    },

    /** The place of the message before this one; -1 for a first message. */
    before: (place: number): number => before[place] ?? -1,
  }
}
