import { largestOf } from '../extremes.ts'
import { chunkTerms, questionTerms } from './chunk-terms.ts'

/** So many matches of a search are compared by the names of their documents. Only the best of them need to be read. */
export const comparedMatches = 60

/** What a name that is wholly in the question adds to a score, which is at most 1, and of words alone 0.55. */
const nameWeight = 0.5

/**
 * The matches of a search, best first, with those of documents that the question names before others. `namesOf` gives
 * the names of the document of a match, which is the same array for all of its matches. The best score stays between 0
 * and 1; `name`, absent if it is 0, is the share of the document's name that is in the question (`sharesOfNames`).
 *
 * The square of the share counts: a question of which one word happens to be in a long name does not name it.
 */
export function rankByNames<Match extends { score: number }>(
  question: string,
  matches: Match[],
  namesOf: (match: Match) => string[],
): (Match & { name?: number })[] {
  const documents = [...new Set(matches.map(namesOf))]
  const shares = sharesOfNames(question, documents)
  const shareOf = new Map(documents.map((names, index) => [names, shares[index] ?? 0]))
  const most = largestOf(shares)
  if (most <= 0) return matches
  return matches
    .map((match) => {
      const name = shareOf.get(namesOf(match)) ?? 0
      const score = (match.score + nameWeight * name ** 2) / (1 + nameWeight * most ** 2)
      return { ...match, score, ...(name === 0 ? {} : { name }) }
    })
    .toSorted((a, b) => b.score - a.score)
}

/**
 * How much of each document's name is in a question, from 0 to 1. Each word of a name counts by its rarity among the
 * names: log(documents / documents with this word), the inverse document frequency of Spärck Jones (1972). What all names
 * have, such as "report", tells none apart. Of a document with several names the best counts.
 */
export function sharesOfNames(question: string, documents: string[][]): number[] {
  const asked = new Set(questionTerms(question))
  const terms = documents.map((names) => names.map((name) => new Set(chunkTerms(name))))
  const holders = new Map<string, number>()
  for (const names of terms)
    for (const term of new Set(names.flatMap((name) => [...name]))) holders.set(term, (holders.get(term) ?? 0) + 1)
  const rarityOf = (term: string) => Math.log(documents.length / (holders.get(term) ?? 1))
  const shareOf = (name: Set<string>) => {
    let all = 0
    let found = 0
    for (const term of name) {
      all += rarityOf(term)
      if (asked.has(term)) found += rarityOf(term)
    }
    return all === 0 ? 0 : found / all
  }
  return terms.map((names) => largestOf(names.map(shareOf), 0))
}
