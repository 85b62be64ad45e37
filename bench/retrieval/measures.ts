import type { Question } from './sets.ts'

export interface Found {
  document: string
  text: string
  /** The first and the last page. */
  pages?: [number, number]
}

export interface Measured {
  first: number
  five: number
  ten: number
  ndcg: number
}

/**
 * Shares of the questions with something right among the first 1, 5 and 10, and nDCG at 10 (Järvelin and Kekäläinen
 * 2002).
 */
export function measure(questions: Question[], results: Found[][]): Measured {
  const sums = { first: 0, five: 0, ten: 0, ndcg: 0 }
  for (const [index, question] of questions.entries()) {
    const { gains, ideal } = gainsOf(question, results[index] ?? [])
    const isIn = (most: number) => Number(gains.slice(0, most).some((gain) => gain > 0))
    sums.first += isIn(1)
    sums.five += isIn(5)
    sums.ten += isIn(10)
    sums.ndcg += discounted(gains) / discounted(ideal)
  }
  const { length } = questions
  return { first: sums.first / length, five: sums.five / length, ten: sums.ten / length, ndcg: sums.ndcg / length }
}

/** The gain of each place: of each passage where the answer is known, else of each document, once. */
function gainsOf({ right }: Question, found: Found[]): { gains: number[]; ideal: number[] } {
  if (right instanceof Map) {
    const documents = [...new Set(found.map(({ document }) => document))]
    return {
      gains: documents.map((document) => right.get(document) ?? 0),
      ideal: [...right.values()].toSorted((a, b) => b - a),
    }
  }
  if ('pages' in right) return gainsOfPages(right, found)
  const answer = plain(right.answer)
  const isRight = ({ document, text }: Found) => document === right.document && plain(text).includes(answer)
  const first = found.findIndex(isRight)
  return { gains: found.map((_, place) => Number(place === first)), ideal: [1] }
}

function gainsOfPages({ document, pages }: { document: string; pages: number[] }, found: Found[]) {
  const isRight = (one: Found) => {
    const [first = 0, last = 0] = one.pages ?? []
    return one.document === document && pages.some((page) => first <= page && page <= last)
  }
  const first = found.findIndex(isRight)
  return { gains: found.map((_, place) => Number(place === first)), ideal: [1] }
}

/** The share of the questions whose first passage is of the right document. */
export function rightDocument(questions: Question[], results: Found[][]): number {
  const right = questions.filter(({ right }, index) => {
    const document = results[index]?.[0]?.document ?? ''
    return right instanceof Map ? right.has(document) : right.document === document
  })
  return right.length / questions.length
}

function discounted(gains: number[]): number {
  return gains.slice(0, 10).reduce((sum, gain, place) => sum + gain / Math.log2(place + 2), 0)
}

/** Without line breaks, and without the marks that sources put around emphasis. */
function plain(text: string): string {
  return text.replace(/[{}_*#]/g, '').replace(/\s+/g, ' ')
}
