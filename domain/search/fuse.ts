import { largestOf, smallestOf } from '../extremes.ts'

export interface Ranked {
  id: string
  /** Higher is better; each list has its own scale. */
  score: number
}

/** `meaning`, `words`: the scaled scores of the lists that have it. */
export interface Fused extends Ranked {
  meaning?: number
  words?: number
}

/**
 * Merges the results of two searches. The scores of each list are scaled to 0 to 1 by its best and worst ("relative
 * score fusion") and weighted; a result in only one list gets only that list's share. Full text finds names and
 * numbers, vectors find meaning.
 */
export function fuse(byVector: Ranked[], byWords: Ranked[], vectorWeight = 0.5): Fused[] {
  const found = new Map<string, Fused>()
  for (const { id, score } of relative(byVector)) found.set(id, { id, score: vectorWeight * score, meaning: score })
  for (const { id, score } of relative(byWords)) {
    const one = found.get(id) ?? { id, score: 0 }
    found.set(id, { ...one, score: one.score + (1 - vectorWeight) * score, words: score })
  }
  return [...found.values()].toSorted((a, b) => b.score - a.score)
}

/** The worst result of a list gets a tenth, because even it matches the query. Duplicates count once. */
function relative(list: Ranked[]): Ranked[] {
  const seen = new Map<string, number>()
  for (const { id, score } of list) seen.set(id, Math.max(score, seen.get(id) ?? -Infinity))
  const values = [...seen.values()]
  const best = largestOf(values)
  const worst = smallestOf(values)
  const range = best - worst
  return [...seen].map(([id, score]) => ({ id, score: range === 0 ? 1 : 0.1 + (0.9 * (score - worst)) / range }))
}
