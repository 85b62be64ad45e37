/** Decimals that somebody has typed; more are what a computation leaves. */
const typedDecimals = 6
/** Decimals of a computed value that shows fewer. */
const computedDecimals = 2

/** A part of a format that says no digit; and the digits of a number, with their decimals. */
const formatParts = /"[^"]*"|\\.|\[[^\]]*\]|[_*].|[0#?][0#?,]*(\.[0#?]*)?,*/g

interface Format {
  /** The digits of its first part. */
  decimals: number | undefined
  isGrouped: boolean
  /** It counts in thousands or millions. */
  isScaled: boolean
  isPercent: boolean
  /** Fractions, and numbers in several parts, such as those of telephones. */
  isOfParts: boolean
}

/** A workbook has few formats for many cells. */
const known = new Map<string, Format>()
const mostKnown = 1000

export function readFormat(format: string): Format {
  const found = known.get(format)
  if (found !== undefined) return found
  const places = [...format.matchAll(formatParts)].filter(([text]) => /^[0#?]/.test(text))
  const bare = format.replace(formatParts, '')
  const [place] = places
  const read = {
    decimals: place === undefined ? undefined : Math.max(0, (place[1]?.length ?? 1) - 1),
    isGrouped: place?.[0].includes(',') === true,
    isScaled: places.some(([text]) => text.endsWith(',')),
    isPercent: bare.includes('%'),
    isOfParts: /[/E]/.test(bare),
  }
  if (known.size < mostKnown) known.set(format, read)
  return read
}

/**
 * A number whose format shows less than is stored, with all of its digits: `0%` of 0.0725 would be 7%. `shown`: what the
 * format shows, which stays where nothing is lost.
 */
export function exactText(value: number, format: Format, shown: string): string {
  if (format.decimals === undefined || format.isScaled || format.isOfParts) return shown
  const exact = format.isPercent ? value * 100 : value
  const stored = Number.isInteger(exact) ? 0 : decimalsOf(exact)
  const decimals = stored > typedDecimals ? Math.max(format.decimals, computedDecimals) : stored
  if (decimals <= format.decimals) return shown
  const digits = shown.match(/\d[\d,]*(?:\.\d+)?/g) ?? []
  if (digits.length !== 1) return shown
  const number = Math.abs(exact).toLocaleString('en-US', {
    useGrouping: format.isGrouped,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })
  const sign = value < 0 && !/[-(]/.test(shown) ? '-' : ''
  return shown.replace(digits[0] ?? '', `${sign}${number}`)
}

/** Of the fifteen digits that spreadsheets compute with. */
function decimalsOf(value: number): number {
  const text = String(Number(value.toPrecision(15)))
  if (text.includes('e')) return typedDecimals + 1
  return text.split('.')[1]?.length ?? 0
}
