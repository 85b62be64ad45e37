import { cutText } from '../../domain/cut-text.ts'

const openReasons = ['not_found', 'failed', 'disliked'] as const
type OpenReason = (typeof openReasons)[number]

/** A question that was not answered well. */
export interface OpenQuestion {
  question: string
  threadId: string
  askedAt: Date
  reasons: OpenReason[]
}

/** Questions that say about the same. */
export interface QuestionGroup {
  /** As it was asked last. */
  question: string
  count: number
  reasons: Record<OpenReason, number>
  threadIds: string[]
  askedAt: Date
}

/** The share of words that two questions have in common from which on they are taken for the same. */
const alike = 0.5
const maxWords = 60

/**
 * Puts questions together that share most of their words, the newest first in each group; the largest groups first. Each
 * is compared with each group once: callers bound how many there are.
 */
export function groupQuestions(questions: OpenQuestion[]): QuestionGroup[] {
  const put: (QuestionGroup & { words: Set<string> })[] = []
  for (const one of questions.toSorted((a, b) => b.askedAt.getTime() - a.askedAt.getTime())) {
    const words = wordsOf(one.question)
    let group = put.find((other) => likeness(words, other.words) >= alike)
    if (group === undefined) {
      const { question, askedAt } = one
      const reasons = { not_found: 0, failed: 0, disliked: 0 }
      group = { question, count: 0, reasons, threadIds: [], askedAt, words }
      put.push(group)
    }
    group.count += 1
    for (const reason of one.reasons) group.reasons[reason] += 1
    if (!group.threadIds.includes(one.threadId)) group.threadIds.push(one.threadId)
  }
  return put.toSorted((a, b) => b.count - a.count).map(({ words: _words, ...group }) => group)
}

function wordsOf(question: string): Set<string> {
  const found =
    cutText(question, 1000)
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  const long = found.filter((word) => word.length > 2)
  return new Set((long.length > 0 ? long : found).slice(0, maxWords))
}

/** From 0 to 1: of all words of both, those that both have. */
function likeness(a: Set<string>, b: Set<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length
  const all = a.size + b.size - shared
  return all === 0 ? 1 : shared / all
}
