/** Whether a value is an object as JSON has it: neither null nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member of a value of which nothing is known. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/**
 * Converts free-form members, which are stored as JSON text. `JSON.stringify` writes -0 as 0, so the sign would be
 * lost; both directions here keep it. Numbers outside the range of a double cannot be written as JSON after they
 * were parsed; `containsInfinity` finds them.
 */
export function toJsonText(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) => (Object.is(entry, -0) ? rawNegativeZero : entry))
}

/** For answers: an object that `JSON.stringify` turns into exactly this text. */
export function objectFromJsonText(text: string): Record<string, unknown> {
  const value = parseExactJson(text)
  return isObject(value) ? value : {}
}

/** Finds texts with numbers that `JSON.stringify` may write in another way, and a few others. */
const maybeRewritten = /[:,[]\s*-?(?:[\d.]{16}|\d+\.\d*0(?!\d)|[\d.]+[eE])|[:,[]\s*-0(?![.\d])/

/**
 * As `JSON.parse`, but `JSON.stringify` writes each number of the value with the digits that it has in the text: one above
 * 2^53, or with zeros at its end, is an object made by `JSON.rawJSON`. So only for values that are passed on; code that
 * computes with numbers parses the text with `JSON.parse`. `structuredClone` does not keep such objects.
 */
export function parseExactJson(text: string): unknown {
  if (!maybeRewritten.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined) return value
    return JSON.stringify(value) === context.source ? value : rawNumber(context.source)
  })
}

/** As `JSON.parse`, but objects and lists that are members with this name are parsed as `parseExactJson` does. */
export function parseWithExact(text: string, name: string): unknown {
  const whole: unknown = JSON.parse(text)
  if (!maybeRewritten.test(text)) return whole
  const pairs: [unknown, unknown][] = [[whole, parseExactJson(text)]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [value, exact] = pair
    if (!isObject(value) || !isObject(exact)) continue
    for (const key of Object.keys(value)) {
      if (key === name && isObject(value[key])) value[key] = exact[key]
      else pairs.push([value[key], exact[key]])
    }
  }
  return whole
}

export function containsInfinity(value: unknown): boolean {
  let level: unknown[] = [value]
  while (level.length > 0) {
    if (level.some((entry) => typeof entry === 'number' && Math.abs(entry) === Infinity)) return true
    if (level.some((entry) => isRaw(entry) && !Number.isFinite(Number(JSON.stringify(entry))))) return true
    level = level.filter(isObject).flatMap((entry) => Object.values(entry))
  }
  return false
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** `JSON.rawJSON` (ECMAScript proposal, in V8 since 11.4) is not in TypeScript's library yet. */
const rawJson: unknown = Reflect.get(JSON, 'rawJSON')
const rawNegativeZero: unknown = rawNumber('-0')

const isRawJson: unknown = Reflect.get(JSON, 'isRawJSON')

const isRaw = (value: unknown): boolean =>
  typeof isRawJson === 'function' && Reflect.apply(isRawJson, JSON, [value]) === true

function rawNumber(source: string): unknown {
  return typeof rawJson === 'function' ? Reflect.apply(rawJson, JSON, [source]) : Number(source)
}

/**
 * Parses JSON text that this service wrote. The value gets the type that the caller names without validation; this
 * is the only place where that is done.
 */
export function parseOwnJson<T>(text: string): T {
  const value: unknown = JSON.parse(text)
  return value as T
}

/** The same, with the numbers of arguments as they were written: see `parseExactJson`. */
export function parseOwnExactJson<T>(text: string): T {
  return parseExactJson(text) as T
}
