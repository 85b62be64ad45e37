/** Stars of one glob, counting `**` once: each makes a comparison longer. */
const globStars = 4

/** What is wrong with a glob; undefined if nothing is. */
export function problemOfGlob(glob: string): string | undefined {
  return starsOf(glob).length > globStars ? `has more than ${globStars} stars` : undefined
}

type MatchesGlob = (text: string) => boolean

/**
 * Reads a glob once for many texts: `*` is anything but `/`, `**` anything. For each star, a comparison goes through the
 * text once. Of the places in one part of a path from which it can go on, it needs only the first.
 */
export function readGlob(glob: string): MatchesGlob {
  const stars = starsOf(glob)
  const [first = '', ...others] = glob.split(starPattern)
  if (stars.length === 0) return (text) => text === glob
  return (text) => {
    if (!text.startsWith(first)) return false
    let places = [first.length]
    for (const [index, star] of stars.entries()) {
      const next = others[index] ?? ''
      if (index === stars.length - 1) return endsAfter(text, places, star, next)
      places = positionsAfter(text, places, star, next)
      if (places.length === 0) return false
    }
    return false
  }
}

const starPattern = /\*+/
const starsOf = (glob: string): ('*' | '**')[] =>
  (glob.match(/\*+/g) ?? []).map((stars) => (stars.length > 1 ? '**' : '*'))

/** Where a text can go on behind a star and what follows it. */
function positionsAfter(text: string, places: number[], star: '*' | '**', next: string): number[] {
  const found: number[] = []
  // The place behind which the part of the path that was looked through ends.
  let done = -1
  for (const place of places) {
    if (place <= done) continue
    const end = star === '**' ? text.length : endOfPart(text, place)
    done = end
    for (let at = text.indexOf(next, place); at >= 0 && at <= end;) {
      found.push(at + next.length)
      // What follows has the same part of the path before it: only from behind that, it can be of use.
      const behind = endOfPart(text, at + next.length) + 1
      at = behind > text.length ? -1 : text.indexOf(next, Math.max(at + 1, behind - next.length))
    }
  }
  return found.toSorted((a, b) => a - b)
}

function endsAfter(text: string, places: number[], star: '*' | '**', last: string): boolean {
  const at = text.length - last.length
  if (!text.endsWith(last)) return false
  if (star === '**') return places.some((index) => index <= at)
  const part = at === 0 ? 0 : text.lastIndexOf('/', at - 1) + 1
  return places.some((index) => index <= at && index >= part)
}

function endOfPart(text: string, index: number): number {
  const end = text.indexOf('/', index)
  return end < 0 ? text.length : end
}
