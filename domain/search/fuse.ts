export interface Ranked {
  id: string
  /** Higher is better, on the scale of its own list. */
  score: number
}

/**
 * Merges what two searches found. Each list is brought to the range 0 to 1 by its own best and worst
 * ("relative score fusion"), then weighted; what only one list has, gets that list's share alone.
 * Names and numbers count through full text, meaning through vectors.
 */
export function fuse(byVector: Ranked[], byWords: Ranked[], vectorWeight = 0.5): Ranked[] {
  const scores = new Map<string, number>()
  add(scores, relative(byVector), vectorWeight)
  add(scores, relative(byWords), 1 - vectorWeight)
  return [...scores].map(([id, score]) => ({ id, score })).toSorted((a, b) => b.score - a.score)
}

function add(scores: Map<string, number>, list: Ranked[], weight: number): void {
  for (const { id, score } of list) scores.set(id, (scores.get(id) ?? 0) + weight * score)
}

/** The worst of a list still was found: it keeps a tenth. Doubles count once. */
function relative(list: Ranked[]): Ranked[] {
  const seen = new Map<string, number>()
  for (const { id, score } of list) seen.set(id, Math.max(score, seen.get(id) ?? -Infinity))
  const values = [...seen.values()]
  const best = Math.max(...values)
  const worst = Math.min(...values)
  const range = best - worst
  return [...seen].map(([id, score]) => ({ id, score: range === 0 ? 1 : 0.1 + (0.9 * (score - worst)) / range }))
}
