import { answerBytes } from '../domain/answer-budget.ts'

export interface Page<T> {
  entries: T[]
  /** Whether the list continues. */
  hasMore: boolean
}

export interface PageRange {
  limit: number
  offset: number
}

/** A sorted database query that returns plain records one by one. */
export interface ListQuery<T> {
  skip(count: number): ListQuery<T>
  limit(count: number): ListQuery<T>
  cursor(): { next(): Promise<T | null>; close(): Promise<void> }
}

/** The `limit` entries from `offset` on, or as many as fit into one answer, but at least one. */
export async function readPage<T>(
  query: ListQuery<T>,
  { limit, offset }: PageRange,
  bytesOf: (entry: T) => number,
): Promise<Page<T>> {
  const page = createPage<T>(limit, bytesOf)
  // One more entry tells whether the list continues.
  const cursor = query
    .skip(offset)
    .limit(limit + 1)
    .cursor()
  try {
    for (let entry = await cursor.next(); entry !== null; entry = await cursor.next()) {
      if (!page.take(entry)) return { entries: page.entries, hasMore: true }
    }
    return { entries: page.entries, hasMore: false }
  } finally {
    await cursor.close()
  }
}

/** The first `limit` of these entries, or as many as fit into one answer, but at least one. */
export async function pageOf<T>(
  entries: AsyncIterable<T>,
  limit: number,
  bytesOf: (entry: T) => number,
): Promise<Page<T>> {
  const page = createPage<T>(limit, bytesOf)
  for await (const entry of entries) if (!page.take(entry)) return { entries: page.entries, hasMore: true }
  return { entries: page.entries, hasMore: false }
}

/** The same for a list in memory. */
export function firstPage<T>(list: T[], limit: number): Page<T> {
  const page = createPage<T>(limit, jsonBytes)
  for (const entry of list) if (!page.take(entry)) return { entries: page.entries, hasMore: true }
  return { entries: page.entries, hasMore: false }
}

function createPage<T>(limit: number, bytesOf: (entry: T) => number) {
  const entries: T[] = []
  let room = answerBytes
  return {
    entries,
    /** False if the entry does not fit on the page. */
    take(entry: T): boolean {
      room -= bytesOf(entry)
      if (entries.length >= limit || (room < 0 && entries.length > 0)) return false
      entries.push(entry)
      return true
    },
  }
}

export function jsonBytes(entry: unknown): number {
  return Buffer.byteLength(JSON.stringify(entry))
}
