import { createHash } from 'node:crypto'

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
