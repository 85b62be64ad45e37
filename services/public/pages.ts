import { type Page, firstPage } from '../page.ts'
import { missing } from './find-thread.ts'

/** Part of a list: ids of entries, as in the OpenAI API. */
export interface PageQuery {
  order: 'asc' | 'desc'
  limit: number
  after?: string | undefined
  before?: string | undefined
}

/** One page of a list in memory, no larger than one answer. Throws `not_found` for an unknown cursor. */
export function pageOf<T>(oldestFirst: T[], idOf: (entry: T) => string, page: PageQuery): Page<T> {
  const entries = page.order === 'asc' ? oldestFirst : oldestFirst.toReversed()
  const place = (id: string | undefined, otherwise: number) => {
    if (id === undefined) return otherwise
    const found = entries.findIndex((entry) => idOf(entry) === id)
    if (found === -1) throw missing('entry')
    return found
  }
  const start = place(page.after, -1) + 1
  const end = place(page.before, entries.length)
  const range = entries.slice(start, Math.max(start, end))
  const backwards = page.before !== undefined && page.after === undefined
  const { entries: chosen, hasMore } = firstPage(backwards ? range.toReversed() : range, page.limit)
  return { entries: backwards ? chosen.toReversed() : chosen, hasMore }
}
