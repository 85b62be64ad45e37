import type { DeletionPhase } from '../../domain/contracts/deletion.ts'

/** Everything fenced that a deletion takes with it, by id. */
export interface Members {
  userIds: string[]
  projectIds: string[]
  assistantIds: string[]
  threadIds: string[]
}

/**
 * One kind of thing that deletions remove, wherever it is kept. Both functions may be repeated, find
 * what there is by the ids of its owners, and touch nothing else.
 */
export interface Store {
  /** As receipts show it. */
  name: string
  phase: DeletionPhase
  /** The collections of the database that it empties; a test holds that every collection is in one of them. */
  collections: string[]
  deleteFor(members: Members): Promise<void>
  countFor(members: Members): Promise<number>
}

const batchSize = 500

/** Long lists of ids are taken in parts, so that no query grows without bound. */
export async function inBatches(ids: string[], work: (batch: string[]) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < ids.length; start += batchSize) await work(ids.slice(start, start + batchSize))
}

/** The sum of a count over the parts. */
export async function sumOver(ids: string[], count: (batch: string[]) => Promise<number>): Promise<number> {
  let total = 0
  await inBatches(ids, async (batch) => {
    total += await count(batch)
  })
  return total
}
