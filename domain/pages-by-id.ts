/** Selects the records behind an id; all of them in the beginning. */
export interface After<Id> {
  _id?: { $gt: Id }
}

/**
 * Records in pages of `limit`, in the order of their ids. `read` gets the condition of the next page and answers at
 * most `limit` records, sorted by `_id`. No cursor stays open between two pages, and none holds all records in memory.
 */
export async function* pagesById<T extends { _id: unknown }>(
  limit: number,
  read: (after: After<T['_id']>, limit: number) => PromiseLike<T[]>,
): AsyncGenerator<T[]> {
  let page = await read({}, limit)
  while (page.length > 0) {
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < limit) return
    page = await read({ _id: { $gt: last._id } }, limit)
  }
}
