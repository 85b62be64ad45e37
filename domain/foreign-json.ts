import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, invalidInput } from './errors.ts'
import { type JsonExcess, jsonExcess, type JsonLimits } from './json-scan.ts'

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
