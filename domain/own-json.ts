/**
 * Parses JSON text that this service wrote. The value gets the type that the caller names without validation; this
 * is the only place where that is done.
 */
export function parseOwnJson<T>(text: string): T {
  const value: unknown = JSON.parse(text)
  return value as T
}
