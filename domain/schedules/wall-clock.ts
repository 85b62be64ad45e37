/**
 * Times of a time zone. A wall-clock time is written as the UTC time with the same figures; in the hours of a change of
 * summer time, it can belong to no moment or to two.
 */
export interface WallClock {
  /** Milliseconds, with the figures of the zone read as UTC. */
  at(moment: number): number
  /** The moments at which the clocks of the zone show this time, in order. */
  momentsOf(wall: number): number[]
}

const hourMs = 3_600_000
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
    momentsOf(wall) {
      // The offset a day before and after; zones change at most once in between.
      const offsets = new Set([-24, 24].map((hours) => offsetAt(at, wall + hours * hourMs)))
      const moments = [...offsets].map((offset) => wall - offset).filter((moment) => at(moment) === wall)
      return moments.toSorted((a, b) => a - b)
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
