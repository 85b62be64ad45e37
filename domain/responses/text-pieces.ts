/** Characters of a piece without its following half of a surrogate pair. */
const pieceLength = 8

/**
 * Where the piece of a text that begins at `start` ends; undefined while more text may belong to it. Pieces depend on
 * the text alone, and not on how it arrived: a stream that is read again has the same events with the same numbers.
 * A piece is at most a word with the space before it.
 */
export function pieceEnd(text: string, start: number, isWhole: boolean): number | undefined {
  let end = start
  let inWord = false
  for (; end < text.length && end - start < pieceLength; end++) {
    const isSpace = /\s/.test(text.charAt(end))
    if (isSpace && inWord) return end
    inWord ||= !isSpace
  }
  if (end - start === pieceLength) {
    const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(end - 1))
    if (!isHalf) return end
    if (end < text.length) return end + 1
  }
  return isWhole && end > start ? end : undefined
}
