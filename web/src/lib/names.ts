const segmenter = new Intl.Segmenter()

/** A long name shortened in its middle, so that its beginning and its ending can be read. */
export function shortName(name: string, longest = 32): string {
  if (name.length <= longest) return name
  const letters = Array.from(segmenter.segment(name), ({ segment }) => segment)
  if (letters.length <= longest) return name
  const end = Math.floor(longest * 0.4)
  return `${letters.slice(0, longest - end - 1).join('')}…${letters.slice(-end).join('')}`
}
