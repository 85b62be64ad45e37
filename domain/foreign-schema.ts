/** Limits for a schema from a server that a user named: it is sent to the model in every step. */
const maxBytes = 64 * 1024
const maxDepth = 50

/** The size of a foreign schema in bytes; undefined if it is too large or nested too deeply. */
export function foreignSchemaBytes(schema: object): number | undefined {
  if (isDeeperThan(schema, maxDepth)) return undefined
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  return bytes > maxBytes ? undefined : bytes
}

/** Whether a JSON value nests deeper than `limit` levels (an empty object or array is one level). Not recursive. */
function isDeeperThan(value: unknown, limit: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((entry) => typeof entry === 'object' && entry !== null)
    if (containers.length > 0 && depth >= limit) return true
    level = containers.flatMap((entry): unknown[] => Object.values(entry ?? {}))
  }
  return false
}
