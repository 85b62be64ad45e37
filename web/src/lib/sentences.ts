import type { Passage } from './passages.ts'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' })

/** The sentence of a passage that has most words of a claim in it; numbers count more. */
export function bestSentence(passage: Passage, claim: string, page?: number): { text: string; score: number } {
  const wanted = wordsOf(claim)
  let best = { text: '', score: -1 }
  for (const text of sentencesOf(passage, page)) {
    const words = wordsOf(text)
    let found = 0
    for (const word of words) if (wanted.has(word)) found += /\d/.test(word) ? 3 : 1
    const score = words.size === 0 ? 0 : found / Math.sqrt(words.size)
    if (score > best.score) best = { text, score }
  }
  return best
}

/** The sentences of a passage, or of one of its pages. */
function sentencesOf({ text, pages = [] }: Passage, page: number | undefined): string[] {
  const starts = pages.flatMap(({ page: number, sentences }) => sentences.map((begin) => ({ number, begin })))
  if (starts.length === 0) return split(text)
  const own = starts.flatMap(({ number, begin }, index) =>
    page === undefined || number === page ? [text.slice(begin, starts[index + 1]?.begin).trim()] : [],
  )
  const found = own.filter((sentence) => sentence !== '')
  return found.length > 0 ? found : split(text)
}

/** Line by line, because lists and rows are not sentences. */
function split(text: string): string[] {
  const sentences = text
    .split(/\n+/)
    .flatMap((line) => Array.from(segmenter.segment(line), ({ segment }) => segment.trim()))
    .filter((sentence) => sentence !== '')
  return sentences.length > 0 ? sentences : [text]
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu))
}

/**
 * Text as it is read: lines that the width of a page has broken are joined. A line ends where it is much shorter than the
 * others and the next one begins with a capital or a number.
 */
export function flowing(text: string): string {
  const lines = text.split('\n')
  const full = Math.max(...lines.map(({ length }) => length)) * 0.6
  return lines.reduce((joined, line, index) => {
    if (index === 0) return line
    const before = lines[index - 1] ?? ''
    const isBroken = before !== '' && line !== '' && (before.length >= full || /^\p{Ll}/u.test(line))
    return `${joined}${isBroken ? ' ' : '\n'}${line}`
  }, '')
}
