import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, invalidInput } from './errors.ts'
import { containsInfinity, toJsonText } from './json.ts'

/** What a JSON text may hold. Containers are objects and arrays; members are the entries of all of them together. */
export interface JsonLimits {
  bytes: number
  depth: number
  containers: number
  members: number
}

type JsonExcess = keyof JsonLimits

const quote = 0x22
const comma = 0x2c
const arrayOpens = 0x5b
const backslash = 0x5c
const arrayCloses = 0x5d
const objectOpens = 0x7b
const objectCloses = 0x7d

/**
 * Names the first limit that a JSON text exceeds; undefined if it exceeds none. `JSON.parse` of 15 MB of `[],` takes
 * seconds, this takes a thirtieth of that: one pass over the text, which stops at the first excess and allocates
 * nothing.
 *
 * The text need not be JSON. Up to its first error it is read as `JSON.parse` reads it, which goes no further.
 * An empty object or array is one level deep.
 */
export function jsonExcess(text: string, limits: JsonLimits): JsonExcess | undefined {
  if (isLongerThan(text, limits.bytes)) return 'bytes'
  let depth = 0
  let containers = 0
  let members = 0
  /** Whether a container was opened and nothing of it was read yet: then its first member is still to be counted. */
  let opened = false

  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= 0x20) continue
    const closes = code === arrayCloses || code === objectCloses
    if (code === comma || (opened && !closes)) {
      members += 1
      if (members > limits.members) return 'members'
    }
    opened = false
    if (closes) depth -= 1
    else if (code === quote) at = endOfString(text, at)
    else if (code === arrayOpens || code === objectOpens) {
      opened = true
      depth += 1
      containers += 1
      if (depth > limits.depth) return 'depth'
      if (containers > limits.containers) return 'containers'
    }
  }
  return undefined
}

/** The position of the quote that ends the string that begins at `start`; the last position if none does. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) at += 1
  }
  return text.length
}

/** Compares the length in UTF-8. A UTF-16 unit takes one to three bytes, so most texts need not be measured. */
function isLongerThan(text: string, bytes: number): boolean {
  if (text.length > bytes) return true
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes
}

/** Levels of any JSON that comes from outside. */
export const foreignJsonDepth = 64

/**
 * What JSON from outside may hold unless its place says otherwise. Text of this many containers is parsed in a tenth
 * of a second at worst.
 */
export const foreignJson = { depth: foreignJsonDepth, containers: 50_000, members: 200_000 } as const

type GivenLimits = Partial<JsonLimits> & Pick<JsonLimits, 'bytes'>

/** A text from outside holds more than may be parsed. */
export class JsonLimitError extends Error {
  readonly exceeded: JsonExcess
  readonly limit: number

  constructor(exceeded: JsonExcess, limit: number) {
    super(messages[exceeded](limit.toLocaleString('en-US')))
    this.name = 'JsonLimitError'
    this.exceeded = exceeded
    this.limit = limit
  }
}

const messages: Record<JsonExcess, (limit: string) => string> = {
  bytes: (limit) => `is larger than ${limit} bytes`,
  depth: (limit) => `nests deeper than ${limit} levels`,
  containers: (limit) => `holds more than ${limit} objects and arrays`,
  members: (limit) => `holds more than ${limit} members`,
}

/**
 * The one door for JSON that this service did not write: measures the text before it parses it, because parsing can
 * hold the process up for seconds. `bytes` is Infinity only where the text was bounded when it was read.
 * Throws `JsonLimitError`, or `SyntaxError` as `JSON.parse` does.
 */
export function parseForeignJson(
  text: string,
  limits: GivenLimits,
  reviver?: (...args: unknown[]) => unknown,
): unknown {
  checkForeignJson(text, limits)
  return JSON.parse(text, reviver)
}

/** Characters of a text whose reading is divided into turns. */
const turnLength = 256 * 1024

/**
 * The same for a text of megabytes in a process that answers others: they have their turn before the check, before the
 * parsing and after it. Throws as `parseForeignJson` does; `parse` may read the checked text in another way.
 */
export async function parseForeignJsonInTurns(
  text: string,
  limits: GivenLimits,
  parse: (text: string) => unknown = JSON.parse,
): Promise<unknown> {
  const isLong = text.length > turnLength
  if (isLong) await nextTurn()
  checkForeignJson(text, limits)
  if (isLong) await nextTurn()
  const value = parse(text)
  if (isLong) await nextTurn()
  return value
}

/** The same check for a text that a library parses. Throws `JsonLimitError`. */
export function checkForeignJson(text: string, limits: GivenLimits): void {
  const all = { ...foreignJson, ...limits }
  const exceeded = jsonExcess(text, all)
  if (exceeded !== undefined) throw new JsonLimitError(exceeded, all[exceeded])
}

/** The `JsonLimitError` in a chain of causes: libraries wrap what their `fetch` throws. */
export function jsonLimitIn(error: unknown): JsonLimitError | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth++)
    if (at instanceof JsonLimitError) return at
  return undefined
}

/** The answer to a request with such a text: 413 for its size, else 422. */
export function refusalOf({ exceeded, message }: JsonLimitError, loc: (string | number)[]): AppError {
  if (exceeded === 'bytes') return new AppError('payload_too_large', `${loc.at(-1)} ${message}.`)
  return invalidInput(loc, message, exceeded === 'depth' ? 'too_deep' : `too_many_${exceeded}`)
}

/** A record of the database holds at most 16 MiB. */
const maxTextBytes = 8 * 1024 * 1024

/**
 * Turns a free-form member, which `parseForeignJson` has parsed, into the text that is stored. Throws `invalid_input`
 * if it is larger than `maxMegabytes`, nests deeper than 64 levels or holds a number that no double can represent;
 * without `maxMegabytes`, `payload_too_large` above 8 MiB.
 */
export function checkFreeForm(loc: string[], value: object, { maxMegabytes }: { maxMegabytes?: number } = {}): string {
  const text = toJsonText(value)
  const bytes = maxMegabytes === undefined ? maxTextBytes : maxMegabytes * 1024 * 1024
  const exceeded = jsonExcess(text, { ...foreignJson, bytes })
  if (exceeded === 'bytes' && maxMegabytes === undefined)
    throw new AppError('payload_too_large', `${loc.at(-1)} is too large.`)
  if (exceeded === 'bytes') throw invalidInput(loc, `is larger than ${maxMegabytes} MB`, 'too_large')
  if (exceeded !== undefined) throw refusalOf(new JsonLimitError(exceeded, foreignJson[exceeded]), loc)
  // JSON has null for an infinite number, so only the value shows it. Walking the value is safe: its text is in bounds.
  if (containsInfinity(value)) throw invalidInput(loc, 'holds a number that is out of range', 'number_range')
  return text
}
