/**
 * Everything that a value says, as text, for finding what must not be in it: names, strings, numbers, and bytes
 * both as they are and in base64.
 */
export function everythingIn(value: unknown): string {
  const found: string[] = []
  const seen = new Set<object>()
  const visit = (entry: unknown): void => {
    if (typeof entry === 'string' || typeof entry === 'number') found.push(String(entry))
    else if (entry instanceof Uint8Array)
      found.push(Buffer.from(entry).toString('utf8'), Buffer.from(entry).toString('base64'))
    else if (typeof entry === 'object' && entry !== null && !seen.has(entry)) {
      seen.add(entry)
      for (const [key, member] of entry instanceof Map ? entry : Object.entries(entry)) {
        visit(key)
        visit(member)
      }
    }
  }
  visit(value)
  return found.join('\n')
}
