/** Id of an entry in a run's stream as Redis gives it: `<milliseconds>-<number>`. */
export type EntryId = string

/**
 * Id of an event as clients receive it: `<milliseconds>-<4 × number + phase>` of the stream entry whose state it
 * shows. The phases keep the ids of one stream strictly increasing for events without an entry of their own: the
 * state after the entry, the same state completed from the database while the run is open, its last state from the
 * database, and the event that ends the stream.
 */
export type EventId = string

const phases = { data: 0, completed: 1, final: 2, end: 3 } as const
const phasesPerEntry = 4

/** Smaller than the id of every entry and event. */
export const zeroId = '0-0'
/**
 * Smaller than any id that Redis makes, larger than those of `start` and `metadata`: for a stream that has expired.
 */
export const goneEntryId: EntryId = '0-3'

export function eventIdOf(entry: EntryId, phase: keyof typeof phases): EventId {
  const [ms, number] = partsOf(entry)
  return `${ms}-${number * phasesPerEntry + phases[phase]}`
}

/** The id of the event that ends a stream whose last state has the id `state`. */
export function endIdAfter(state: EventId): EventId {
  const [ms, number] = partsOf(state)
  return `${ms}-${number - (number % phasesPerEntry) + phases.end}`
}

/** Orders two ids of the same kind: negative if `a` is older. */
export function compareIds(a: string, b: string): number {
  const [aMs, aNumber] = partsOf(a)
  const [bMs, bNumber] = partsOf(b)
  return aMs - bMs || aNumber - bNumber
}

export function laterId(a: string, b: string): string {
  return compareIds(a, b) >= 0 ? a : b
}

function partsOf(id: string): [ms: number, number: number] {
  const [ms = 0, number = 0] = id.split('-').map(Number)
  return [ms, number]
}

export const eventIdPattern = '^\\d{1,15}-\\d{1,15}$'
