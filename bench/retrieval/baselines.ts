import type { Found } from './measures.ts'
import type { Document } from './sets.ts'

export type Ranking = { found: Found; score: number }[]
type Embed = (texts: string[]) => Promise<number[][]>

const pieceCharacters = 1000
const kept = 30
/** Of reciprocal rank fusion (Cormack et al. 2009). */
const rankConstant = 60

/** What tutorials do: texts cut after 1,000 characters, found by words (BM25), by a model, or by both. */
export async function createBaselines(documents: Document[], embed: Embed | undefined) {
  const pieces: Found[] = documents.flatMap(({ id, text, pdf }) =>
    pdf === undefined
      ? cut(text).map((piece) => ({ document: id, text: piece }))
      : pdf.pages.flatMap((page, index) =>
          cut(page).map((piece): Found => ({ document: id, text: piece, pages: [index + 1, index + 1] })),
        ),
  )
  const words = createBm25(pieces)
  const vectors = (await embed?.(pieces.map(({ text }) => text))) ?? []
  const byMeaning = (question: number[]): Ranking =>
    best(pieces.map((found, index) => ({ found, score: product(question, vectors[index] ?? []) })))
  return {
    words,
    meaning: byMeaning,
    both: (text: string, vector: number[]) => fuseRanks(words(text), byMeaning(vector)),
  }
}

function cut(text: string): string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; start += pieceCharacters)
    pieces.push(text.slice(start, start + pieceCharacters))
  return pieces
}

/** BM25 (Robertson and Zaragoza 2009) with the usual constants, on words in lower case. */
function createBm25(pieces: Found[]): (question: string) => Ranking {
  const [saturation, lengths] = [1.2, 0.75]
  const places = new Map<string, Map<number, number>>()
  const sizes = pieces.map(({ text }, index) => {
    const words = wordsOf(text)
    for (const word of words) {
      const counts = places.get(word) ?? new Map<number, number>()
      places.set(word, counts.set(index, (counts.get(index) ?? 0) + 1))
    }
    return words.length
  })
  const mean = sizes.reduce((sum, size) => sum + size, 0) / pieces.length
  return (question) => {
    const scores = new Map<number, number>()
    for (const word of new Set(wordsOf(question))) {
      const counts = places.get(word) ?? new Map<number, number>()
      const rarity = Math.log(1 + (pieces.length - counts.size + 0.5) / (counts.size + 0.5))
      for (const [index, count] of counts) {
        const length = 1 - lengths + (lengths * (sizes[index] ?? 0)) / mean
        const score = (rarity * count * (saturation + 1)) / (count + saturation * length)
        scores.set(index, (scores.get(index) ?? 0) + score)
      }
    }
    return best(
      [...scores].flatMap(([index, score]) => ({ found: pieces[index] ?? { document: '', text: '' }, score })),
    )
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function fuseRanks(...lists: Ranking[]): Ranking {
  const scores = new Map<Found, number>()
  for (const list of lists)
    for (const [rank, { found }] of list.entries())
      scores.set(found, (scores.get(found) ?? 0) + 1 / (rankConstant + rank + 1))
  return best([...scores].map(([found, score]) => ({ found, score })))
}

function best(all: Ranking): Ranking {
  return all.toSorted((a, b) => b.score - a.score).slice(0, kept)
}

function product(a: number[], b: number[]): number {
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0)
  return sum
}
