/** The value if it is a list, else an empty list. */
export function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
