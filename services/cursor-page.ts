import { AppError } from '../domain/errors.ts'
import { type ListQuery, type Page, firstPage, readPage } from './page.ts'

/** Part of a list: ids of entries, as in the OpenAI API. */
export interface PageQuery {
  order: 'asc' | 'desc'
  limit: number
  after?: string | undefined
  before?: string | undefined
}

/** With only `before`, the nearest entries are wanted, so the list is read backwards. */
export const isBackwards = ({ after, before }: PageQuery) => before !== undefined && after === undefined

/** One page of a list in memory, no larger than one answer. Throws `not_found` for an unknown cursor. */
export function pageOf<T>(oldestFirst: T[], idOf: (entry: T) => string, page: PageQuery): Page<T> {
  const entries = page.order === 'asc' ? oldestFirst : oldestFirst.toReversed()
  const index = (id: string | undefined, otherwise: number) => {
    if (id === undefined) return otherwise
    const found = entries.findIndex((entry) => idOf(entry) === id)
    if (found === -1) throw noEntry()
    return found
  }
  const start = index(page.after, -1) + 1
  const end = index(page.before, entries.length)
  const range = entries.slice(start, Math.max(start, end))
  const backwards = isBackwards(page)
  const { entries: chosen, hasMore } = firstPage(backwards ? range.toReversed() : range, page.limit)
  return { entries: backwards ? chosen.toReversed() : chosen, hasMore }
}

interface CursorEntry {
  _id: string
  created_at: Date
}

interface Source<T> {
  /** The entry of that id, if it is one of the list. */
  find(id: string): Promise<CursorEntry | null>
  /** The entries of the list that also match `range`. */
  read(range: object, sort: { created_at?: 1 | -1; _id: 1 | -1 }): ListQuery<T>
  bytesOf(entry: T): number
  /** The ids of the entries are in the order of their creation. */
  isById?: boolean
}

/** One page of stored records by time of creation. Throws `not_found` for an unknown cursor. */
export async function storedPage<T>(
  page: PageQuery,
  { find, read, bytesOf, isById = false }: Source<T>,
): Promise<Page<T>> {
  const place = async (id: string) => {
    const found = await find(id)
    if (found === null) throw noEntry()
    return found
  }
  const [later, earlier] = page.order === 'asc' ? (['$gt', '$lt'] as const) : (['$lt', '$gt'] as const)
  const beyond = ({ _id, created_at }: CursorEntry, operator: '$gt' | '$lt') =>
    isById
      ? { _id: { [operator]: _id } }
      : { $or: [{ created_at: { [operator]: created_at } }, { created_at, _id: { [operator]: _id } }] }
  const bounds = [
    ...(page.after === undefined ? [] : [beyond(await place(page.after), later)]),
    ...(page.before === undefined ? [] : [beyond(await place(page.before), earlier)]),
  ]
  const backwards = isBackwards(page)
  const direction = (page.order === 'asc') === backwards ? -1 : 1
  const query = read(
    bounds.length > 0 ? { $and: bounds } : {},
    isById ? { _id: direction } : { created_at: direction, _id: direction },
  )
  const { entries, hasMore } = await readPage(query, { limit: page.limit, offset: 0 }, bytesOf)
  return { entries: backwards ? entries.toReversed() : entries, hasMore }
}

function noEntry(): AppError {
  return new AppError('not_found', 'There is no such entry.')
}
