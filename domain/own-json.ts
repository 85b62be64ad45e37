/**
 * Reads JSON text that this service wrote itself. Returns the value as the type that the caller names:
 * the one place where a value is not checked again.
 */
export function parseOwnJson<T>(text: string): T {
  const value: unknown = JSON.parse(text)
  return value as T
}
