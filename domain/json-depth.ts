/** Whether a JSON value nests deeper than `limit` levels (an empty object or array is one level). Not recursive. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((entry) => typeof entry === 'object' && entry !== null)
    if (containers.length > 0 && depth >= limit) return true
    level = containers.flatMap((entry): unknown[] => Object.values(entry ?? {}))
  }
  return false
}
