import type { DeletionPhase } from '../../domain/contracts/deletion.ts'

/** Ids of everything marked that a deletion removes. */
export interface Members {
  userIds: string[]
  projectIds: string[]
  assistantIds: string[]
  threadIds: string[]
}

/**
 * A kind of data that deletions remove, wherever it is stored. Both functions can be repeated, find the data by the
 * ids of its owners, and touch nothing else.
 */
export interface Store {
  /** The name on receipts. */
  name: string
  phase: DeletionPhase
  /** The database collections that it empties; a test checks that every collection belongs to a store. */
  collections: string[]
  deleteFor(members: Members): Promise<void>
  countFor(members: Members): Promise<number>
}

const batchSize = 500

/** Long lists of ids are split, so that queries stay bounded. */
export async function inBatches(ids: string[], work: (batch: string[]) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < ids.length; start += batchSize) await work(ids.slice(start, start + batchSize))
}

/** The sum of a count over all parts. */
export async function sumOver(ids: string[], count: (batch: string[]) => Promise<number>): Promise<number> {
  let total = 0
  await inBatches(ids, async (batch) => {
    total += await count(batch)
  })
  return total
}
