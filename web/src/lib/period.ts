export type Period = 'today' | 'yesterday' | 'week' | 'month' | 'older'

/** When a chat was last used, in days of the reader's zone. */
export function periodOf(iso: string, now = new Date()): Period {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate())
  const since = (days: number) => new Date(midnight).setDate(midnight.getDate() - days)
  const time = Date.parse(iso)
  if (time >= since(0)) return 'today'
  if (time >= since(1)) return 'yesterday'
  if (time >= since(7)) return 'week'
  return time >= since(30) ? 'month' : 'older'
}
