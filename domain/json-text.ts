/**
 * Converts free-form members, which are stored as JSON text. `JSON.stringify` writes -0 as 0, so the sign would be
 * lost; both directions here keep it. Numbers outside the range of a double cannot be written as JSON after they
 * were parsed; `holdsInfinity` finds them.
 */
export function toJsonText(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) => (Object.is(entry, -0) ? rawNegativeZero : entry))
}

/** For answers: an object that `JSON.stringify` turns into exactly this text. */
export function objectFromJsonText(text: string): Record<string, unknown> {
  const keepingSigns = /(?<![\d.eE"])-0(?![\d.eE])/.test(text)
  const value: unknown = keepingSigns
    ? JSON.parse(text, (_key, entry: unknown) => (Object.is(entry, -0) ? rawNegativeZero : entry))
    : JSON.parse(text)
  return isObject(value) ? value : {}
}

export function holdsInfinity(value: unknown): boolean {
  let level: unknown[] = [value]
  while (level.length > 0) {
    if (level.some((entry) => entry === Infinity || entry === -Infinity)) return true
    level = level.filter(isObject).flatMap((entry) => Object.values(entry))
  }
  return false
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** `JSON.rawJSON` (ECMAScript proposal, in V8 since 11.4) is not in TypeScript's library yet. */
const rawJson: unknown = Reflect.get(JSON, 'rawJSON')
const rawNegativeZero: unknown = typeof rawJson === 'function' ? Reflect.apply(rawJson, JSON, ['-0']) : -0
