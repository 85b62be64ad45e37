import { largestOf, smallestOf } from '../extremes.ts'

export interface Ranked {
  id: string
  /** Higher is better; each list has its own scale. */
  score: number
}

/** `meaning`, `words`: the scaled scores of the lists that have it. */
interface Fused extends Ranked {
  meaning?: number
  words?: number
}

/**
 * Found by meaning is weighed a little less than found by words. At a half, what words found clearly was often second to
 * what is only about the same (docs/decisions/2026-11-29-words-weighed-by-their-best.md).
 */
const meaningWeight = 0.45

/**
 * Merges the results of two searches. The scores of each list are brought to 0 to 1 and weighted; a result in only one
 * list gets only that list's share. Full text finds names and numbers, vectors find meaning.
 */
export function fuse(byVector: Ranked[], byWords: Ranked[]): Fused[] {
  const found = new Map<string, Fused>()
  for (const [id, meaning] of betweenWorstAndBest(byVector))
    found.set(id, { id, score: meaningWeight * meaning, meaning })
  const wordsWeight = areAlike(byWords) ? meaningWeight : 1 - meaningWeight
  for (const [id, words] of ofTheBest(byWords)) {
    const one = found.get(id) ?? { id, score: 0 }
    found.set(id, { ...one, score: one.score + wordsWeight * words, words })
  }
  return [...found.values()].toSorted((a, b) => b.score - a.score)
}

/** Vectors of any two texts are somewhat alike. The worst gets a tenth, because even it matches the query. */
function betweenWorstAndBest(list: Ranked[]): [string, number][] {
  const scores = bestOfEach(list)
  const best = largestOf([...scores.values()])
  const worst = smallestOf([...scores.values()])
  const range = best - worst
  return [...scores].map(([id, score]) => [id, range === 0 ? 1 : 0.1 + (0.9 * (score - worst)) / range])
}

/** A text without a word of the query would have 0, so that half of a score is half as good, however long the list. */
function ofTheBest(list: Ranked[]): [string, number][] {
  const scores = bestOfEach(list)
  const best = largestOf([...scores.values()])
  return [...scores].map(([id, score]) => [id, best > 0 ? score / best : 1])
}

/** Whether words tell nothing apart, as one that stands in every line: none goes before the best by meaning. */
const areAlike = (list: Ranked[]): boolean => list.length > 1 && list.every(({ score }) => score === list[0]?.score)

/** Duplicates count once. */
function bestOfEach(list: Ranked[]): Map<string, number> {
  const scores = new Map<string, number>()
  for (const { id, score } of list) scores.set(id, Math.max(score, scores.get(id) ?? -Infinity))
  return scores
}
