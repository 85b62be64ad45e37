import { AppError, invalidInput } from './errors.ts'
import { isDeeperThan } from './json-depth.ts'
import { holdsInfinity, toJsonText } from './json-text.ts'

export const freeFormDepth = 100
/** A record of the database holds at most 16 MiB. */
const maxTextBytes = 8 * 1024 * 1024

/**
 * Turns a free-form member into the text that is stored. Throws `invalid_input` if it nests deeper than 100 levels,
 * holds a number that no double can represent, or is larger than `maxMegabytes`; without that limit
 * `payload_too_large` above 8 MiB.
 */
export function checkFreeForm(loc: string[], value: object, { maxMegabytes }: { maxMegabytes?: number } = {}): string {
  if (isDeeperThan(value, freeFormDepth))
    throw invalidInput(loc, `nests deeper than ${freeFormDepth} levels`, 'too_deep')
  if (holdsInfinity(value)) throw invalidInput(loc, 'holds a number that is out of range', 'number_range')
  const text = toJsonText(value)
  if (maxMegabytes !== undefined && Buffer.byteLength(text) > maxMegabytes * 1024 * 1024)
    throw invalidInput(loc, `is larger than ${maxMegabytes} MB`, 'too_large')
  if (Buffer.byteLength(text) > maxTextBytes) throw new AppError('payload_too_large', `${loc.at(-1)} is too large.`)
  return text
}
