import type { ClientSession } from 'mongoose'
import type { RunInTransaction } from '../transactions.ts'

const batchSize = 200

interface Identified {
  _id: string
}

/** The part of a collection that is used here. */
export interface Erasable<F> {
  find(filter: F, projection: { _id: 1 }): { limit(count: number): { lean(): PromiseLike<Identified[]> } }
  deleteMany(filter: F & { _id: { $in: string[] } }, options: { session: ClientSession }): PromiseLike<unknown>
}

/**
 * Changes all records that `find` returns, in small transactions, until it returns none: `change` must remove its
 * records from the result. A single statement would meet open transactions of others one by one: MongoDB then waits
 * for each in the middle of its work, and the local stand-in was seen to wait for ever. A transaction that meets
 * another aborts and is repeated.
 */
async function changeAll(
  transaction: RunInTransaction,
  find: (limit: number) => PromiseLike<Identified[]>,
  change: (ids: string[], session: ClientSession) => PromiseLike<unknown>,
): Promise<void> {
  for (;;) {
    const found = await find(batchSize)
    if (found.length === 0) return
    const ids = found.map((record) => record._id)
    await transaction(async (session) => {
      await change(ids, session)
    })
  }
}

/** The part of a collection that is used to update it. */
interface Updatable<F, U> extends Pick<Erasable<F>, 'find'> {
  updateMany(
    filter: { _id: { $in: string[] } },
    update: U,
    options: { session: ClientSession; updatePipeline?: boolean },
  ): PromiseLike<unknown>
}

/** Updates all records that match a filter, in the same way; afterwards they must not match it. */
export function updateAll<F, U>(
  transaction: RunInTransaction,
  collection: Updatable<NoInfer<F>, NoInfer<U>>,
  filter: F,
  update: U,
): Promise<void> {
  const pipeline = Array.isArray(update) ? { updatePipeline: true } : {}
  return changeAll(
    transaction,
    (limit) => collection.find(filter, { _id: 1 }).limit(limit).lean(),
    (ids, session) => collection.updateMany({ _id: { $in: ids } }, update, { session, ...pipeline }),
  )
}

/** Deletes all records that match a filter, in the same way. */
export function eraseAll<F>(transaction: RunInTransaction, collection: Erasable<NoInfer<F>>, filter: F): Promise<void> {
  return changeAll(
    transaction,
    (limit) => collection.find(filter, { _id: 1 }).limit(limit).lean(),
    (ids, session) => collection.deleteMany({ ...filter, _id: { $in: ids } }, { session }),
  )
}
