/**
 * Times of a time zone. A wall-clock time is written as the UTC time with the same figures; in the hours of a change of
 * summer time, it can belong to no moment or to two.
 */
export interface WallClock {
  /** Milliseconds, with the figures of the zone read as UTC. */
  at(moment: number): number
  /**
   * The moment of a wall-clock time; undefined if the clocks skip it. Of two moments it is one, as with Temporal; which
   * one Temporal chooses is not promised.
   */
  momentOf(wall: number): number | undefined
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Throws `RangeError` for a name that is no time zone. */
export function wallClockOf(timezone: string): WallClock {
  const format = formatterOf(timezone)
  const at = (moment: number) => {
    const parts: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(moment)) parts[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
  return {
    at,
    momentOf(wall) {
      const first = wall - offsetAt(at, wall)
      if (at(first) === wall) return first
      const second = wall - offsetAt(at, first)
      return at(second) === wall ? second : undefined
    },
  }
}

function offsetAt(at: WallClock['at'], moment: number): number {
  return at(moment) - moment
}

/** Kept, because making one takes longer than using it a hundred times. There are a few hundred zones. */
function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formatters.set(timezone, made)
  return made
}
