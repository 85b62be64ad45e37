import { createHash } from 'node:crypto'
import { v7, validate, version } from 'uuid'

/** A new time-ordered UUID (version 7, RFC 9562). */
export function newId(): string {
  return v7()
}

/** Whether a text looks like an id that `newId` has made. */
export function isGeneratedId(text: string): boolean {
  return validate(text) && version(text) === 7
}

/** Not after any id that was made at or after that time. */
export function firstIdAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** What a client may choose as the id of an assistant or a thread. */
export const clientIdPattern = '^[A-Za-z0-9._~-]{1,128}$'

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

/**
 * The same id for the same parts: SHA-256 over them, in the form of a UUID of version 7. It keeps the time of `timeOf` if
 * that is an id of this form, because records are listed by their ids.
 */
export function derivedId(parts: string[], timeOf: string): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part)
  const hex = hash.digest('hex')
  const time = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(timeOf)
    ? timeOf.slice(0, 13)
    : '00000000-0000'
  const variant = ((Number.parseInt(hex.slice(3, 4), 16) & 0x3) | 0x8).toString(16)
  return `${time}-7${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`
}
