/**
 * Embeds a text without a model: feature hashing ("the hashing trick", Weinberger et al. 2009) of its
 * words and of the three-letter pieces of each word, weighted by the logarithm of their number and
 * normalised to length 1. Texts that share words lie close to each other; meaning is not understood. Only the beginning
 * of a long text counts, as with models of a bounded window.
 */
export function embedByHashing(text: string, dimensions: number): number[] {
  const counts = new Map<string, number>()
  for (const word of wordsOf(text.slice(0, window))) {
    add(counts, word, 1)
    // Pieces make `deploy` and `deployment` neighbours.
    const padded = `^${word}$`
    for (let at = 0; at + 3 <= padded.length; at++) add(counts, `~${padded.slice(at, at + 3)}`, 0.25)
  }
  const vector = Array.from({ length: dimensions }, () => 0)
  for (const [feature, count] of counts) {
    const hash = fnv1a(feature)
    const place = (hash >>> 1) % dimensions
    vector[place] = (vector[place] ?? 0) + (hash & 1 ? 1 : -1) * Math.log1p(count)
  }
  const length = Math.hypot(...vector)
  // A text without a word still needs a direction: servers of vectors refuse the zero vector.
  if (length === 0) return vector.map((_, index) => (index === 0 ? 1 : 0))
  return vector.map((value) => value / length)
}

/** Characters. */
const window = 32_768

/** The words of a text, lower-case, without those that say nothing about its subject. */
export function wordsOf(text: string): string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  return words.filter((word) => !stopWords.has(word))
}

const stopWords = new Set(
  (
    'a an and are as at be but by can did do does for from had has have how i in into is it its me my of on or our ' +
    'she he so than that the their them then there these they this to us was we were what when where which who why ' +
    'will with would you your please tell about'
  ).split(' '),
)

function add(counts: Map<string, number>, feature: string, weight: number): void {
  counts.set(feature, (counts.get(feature) ?? 0) + weight)
}

/** FNV-1a, 32 bits, with the last mixing step of MurmurHash3: without it the low bits are poor. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
