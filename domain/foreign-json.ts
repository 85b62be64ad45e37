import { type JsonExcess, jsonExcess, type JsonLimits } from './json-scan.ts'

/** Levels of any JSON that comes from outside. */
export const foreignJsonDepth = 64

/**
 * What JSON from outside may hold unless its place says otherwise. Text of this many containers is parsed in a tenth
 * of a second at worst.
 */
export const foreignJson = { depth: foreignJsonDepth, containers: 50_000, members: 200_000 } as const

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
 * hold the process up for seconds. `bytes` must be given, unless the text was bounded where it was read.
 * Throws `JsonLimitError`, or `SyntaxError` as `JSON.parse` does.
 */
export function parseForeignJson(text: string, limits: Partial<JsonLimits> & Pick<JsonLimits, 'bytes'>): unknown {
  const all = { ...foreignJson, ...limits }
  const exceeded = jsonExcess(text, all)
  if (exceeded !== undefined) throw new JsonLimitError(exceeded, all[exceeded])
  return JSON.parse(text)
}
