import { AppError, invalidInput } from './errors.ts'
import { foreignJson, JsonLimitError, refusalOf } from './foreign-json.ts'
import { jsonExcess } from './json-scan.ts'
import { holdsInfinity, toJsonText } from './json-text.ts'

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
  if (holdsInfinity(value)) throw invalidInput(loc, 'holds a number that is out of range', 'number_range')
  return text
}
