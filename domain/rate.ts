/** At most `max` requests in a window of `windowMs`, which begins with the first request. */
export interface Rate {
  max: number
  windowMs: number
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Parses rates such as `5/1h,20/1d`, or `off` for none; undefined if the text is invalid. The shortest window comes
 * first.
 */
export function parseRates(text: string): Rate[] | undefined {
  if (/^off$/i.test(text)) return []
  const rates = text.split(',').map(parseRate)
  if (!rates.every((rate) => rate !== undefined)) return undefined
  return rates.toSorted((a, b) => a.windowMs - b.windowMs)
}

function parseRate(text: string): Rate | undefined {
  const [, max, count, unit] = /^\s*(\d{1,9})\/(\d{1,4})([smhd])\s*$/.exec(text) ?? []
  if (unit !== 's' && unit !== 'm' && unit !== 'h' && unit !== 'd') return undefined
  const windowMs = Number(count) * unitMs[unit]
  return Number(max) > 0 && windowMs > 0 ? { max: Number(max), windowMs } : undefined
}
