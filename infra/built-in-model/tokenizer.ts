import type { Vocabulary } from './weights.ts'

/** What SentencePiece writes for a space. */
const space = '\u2581'
/** A character that no token has costs so much more than the worst token. */
const unknownPenalty = 10

/**
 * The tokenizer of XLM-RoBERTa: of all ways to cut a text into tokens that with the highest sum of scores ("unigram
 * language model", Kudo 2018), by the algorithm of Viterbi. Without the marks of begin and end.
 */
export function createTokenizer({ pieces, scores, unknown, replaced }: Vocabulary) {
  const numbers = new Map<string, number>()
  let longest = 1
  let worst = Infinity
  for (const [number, piece] of pieces.entries()) {
    if (number !== unknown) numbers.set(piece, number)
    longest = Math.max(longest, piece.length)
    worst = Math.min(worst, scores[number] ?? Infinity)
  }
  const unknownScore = worst - unknownPenalty

  function normalized(text: string): string {
    let result = ''
    for (const character of text) result += replaced.get(character.codePointAt(0) ?? 0) ?? character
    result = result.replace(/ {2,}/g, ' ')
    return (result.startsWith(' ') ? result : ` ${result}`).replaceAll(' ', space)
  }

  return function tokensOf(text: string): number[] {
    const all = normalized(text)
    const { length } = all
    const best = new Float64Array(length + 1).fill(-Infinity)
    const token = new Int32Array(length + 1)
    const from = new Int32Array(length + 1)
    best[0] = 0
    for (let start = 0; start < length; start++) {
      const score = best[start] ?? -Infinity
      if (score === -Infinity) continue
      const reach = (end: number, total: number, number: number) => {
        if (total <= (best[end] ?? 0)) return
        best[end] = total
        token[end] = number
        from[end] = start
      }
      const last = Math.min(length, start + longest)
      for (let end = start + 1; end <= last; end++) {
        const number = numbers.get(all.slice(start, end))
        if (number !== undefined) reach(end, score + (scores[number] ?? 0), number)
      }
      const characterEnd = start + ((all.codePointAt(start) ?? 0) > 0xffff ? 2 : 1)
      reach(characterEnd, score + unknownScore, unknown)
    }
    const tokens: number[] = []
    for (let end = length; end > 0; end = from[end] ?? 0) tokens.push(token[end] ?? unknown)
    return tokens.reverse()
  }
}
