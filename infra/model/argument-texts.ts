/**
 * An event whose calls have objects as arguments, with their JSON text in place of them. The client library would read
 * whole numbers beyond 2^53 as doubles; here they keep their digits.
 */
export function withArgumentTexts(data: string): string {
  if (!/"arguments"\s*:\s*[{[]/.test(data)) return data
  try {
    return JSON.stringify(JSON.parse(data, reviveArguments))
  } catch {
    // The client library says what is wrong with it.
    return data
  }
}

/** `context.source` and `JSON.rawJSON` (ECMAScript proposal, in V8 since 11.4) are not in TypeScript's library yet. */
const rawJson: unknown = Reflect.get(JSON, 'rawJSON')

function reviveArguments(this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  if (typeof value === 'number' && source !== undefined && String(value) !== source && typeof rawJson === 'function')
    return Reflect.apply(rawJson, JSON, [source])
  return key === 'arguments' && typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
