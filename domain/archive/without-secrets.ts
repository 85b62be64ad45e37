import { cutText } from '../cut-text.ts'
import { maskedValue } from '../mask-secrets.ts'

const pathsKept = 50
const pathCharacters = 200

/**
 * A configuration without the places of its secrets, which an archive masks, and where they are missing. A URL stays
 * as it is, with its masked parts. `config` was parsed by `parseForeignJson`; keys such as `__proto__` stay plain data.
 */
export function withoutSecrets(config: Record<string, unknown>): {
  config: Record<string, unknown>
  missing: string[]
} {
  const missing: string[] = []
  const note = (path: string) => {
    if (missing.length < pathsKept) missing.push(cutText(path, pathCharacters))
  }
  const isMissing = (value: unknown, path: string) => {
    if (typeof value === 'string' && value.includes(maskedValue)) note(path)
    return value === maskedValue
  }
  const visit = (value: unknown, path: string): unknown => {
    if (Array.isArray(value))
      return value
        .map((entry: unknown, index) => [entry, `${path}.${index}`] as const)
        .filter(([entry, at]) => !isMissing(entry, at))
        .map(([entry, at]) => visit(entry, at))
    if (typeof value !== 'object' || value === null) return value
    return membersOf(value, `${path}.`)
  }
  const membersOf = (value: object, prefix: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(value)
        .filter(([name, member]) => !isMissing(member, `${prefix}${name}`))
        .map(([name, member]: [string, unknown]) => [name, visit(member, `${prefix}${name}`)]),
    )
  return { config: membersOf(config, ''), missing }
}
