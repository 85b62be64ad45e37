import fc from 'fast-check'

/** `whole`, cut at these places; places past its end mean nothing. Empty pieces arrive too. */
export function cutAt(whole: Uint8Array, places: number[]): Uint8Array[] {
  const cuts = [0, ...places.map((place) => place % (whole.length + 1)), whole.length].toSorted((a, b) => a - b)
  return cuts.slice(1).map((end, index) => whole.slice(cuts[index], end))
}

export const cuts = fc.array(fc.nat(5000), { maxLength: 12 })
/** Text with characters of every length, line ends that are none, and lone surrogates. */
export const oddText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('\r', '\n', '\u2028', '\u0085', ':', ' ', 'data', '"', '\\', '{', '\u0000', '😀'),
  }),
)
/** What is left of a text after it was sent as UTF-8: lone surrogates become U+FFFD. */
export const sent = (text: string) =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text))
