/** Workers read JSON with these, too: without the texts, which wait for their language. */
export type JsonObject = Record<string, unknown>

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
