interface BackOff {
  firstMs: number
  /** How much longer each pause is than the one before it. */
  factor?: number
  longestMs?: number
}

/** The pause after so many failures in a row (from 1), or after so many answers without news. */
export function backOffMs(times: number, { firstMs, factor = 2, longestMs = Infinity }: BackOff): number {
  return Math.min(firstMs * factor ** (times - 1), longestMs)
}
