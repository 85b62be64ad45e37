import { parseExactJson } from './json-text.ts'

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
