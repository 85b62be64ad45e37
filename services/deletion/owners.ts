import type { ClientSession } from 'mongoose'
import type { DeletionTarget, StoreCounts } from '../../domain/contracts/deletion.ts'
import { eraseAll, updateAll } from '../owned-data/erase-all.ts'
import { countsInQuota, releaseQuota } from '../threads/create-thread.ts'
import type { RunInTransaction } from '../transactions.ts'
import { ownedBy } from './members.ts'
import { type OwnerCollections, deletedOwnerStore } from './store.ts'

interface OwnersDeps {
  collections: OwnerCollections
  transaction: RunInTransaction
}

const batchSize = 200
/** Only marked records: a user that a token created again after the deletion is another one. */
const marked = { deleting: true } as const

/** Removes all owners below the root, whose contents have been removed. Safe to repeat. */
export async function removeOwnersBelow(deps: OwnersDeps, target: DeletionTarget): Promise<void> {
  const { collections, transaction } = deps
  const { assistants, projects, threads } = collections
  const owned = await ownedBy(collections, target)
  const notRoot = { _id: { $ne: target.id } }
  await removeThreads(deps, { $and: [owned.threads, target.kind === 'thread' ? notRoot : {}] })
  if (target.kind !== 'thread') {
    const references = {
      assistant_id: { $in: await deletedOwnerStore(collections).markedAssistantsOfAny(owned.assistants) },
    }
    await updateAll(transaction, threads, references, { $unset: { assistant_id: 1 } })
  }
  const below = (filter: object) => ({ $and: [filter, notRoot], ...marked })
  await eraseAll(transaction, assistants, below(owned.assistants))
  await eraseAll(transaction, projects, below(owned.projects))
}

/**
 * All owners of the target, including the root, marked or not: records that were created beside the marker count as
 * left.
 */
export async function countOwners(collections: OwnerCollections, target: DeletionTarget): Promise<StoreCounts> {
  const userIds = target.kind === 'account' ? [target.id] : []
  return deletedOwnerStore(collections).countOfAny(await ownedBy(collections, target), userIds)
}

/**
 * Removes the root itself, within a transaction. False if it is gone already. Deleting a thread also decrements the
 * owner's thread count.
 */
export async function removeRoot(
  collections: OwnerCollections,
  target: DeletionTarget,
  session: ClientSession,
): Promise<boolean> {
  const removed = await deletedOwnerStore(collections).removeRootOfAny(target, session)
  if (typeof removed === 'boolean') return removed
  const places = countsInQuota(removed) ? 1 : 0
  await releaseQuota(collections, { userId: removed.user_id, places }, session)
  return true
}

/** In batches, each in one transaction with the thread counter, so that the counter is exact after any crash. */
async function removeThreads({ collections, transaction }: OwnersDeps, filter: object): Promise<void> {
  const store = deletedOwnerStore(collections)
  for (;;) {
    const batch = await store.someThreadsOfAny(filter, batchSize)
    if (batch.length === 0) return
    await transaction(async (session) => {
      const here = await store.removeThreadsOfAny(batch, session)
      const owners = Map.groupBy(
        here.filter((thread) => countsInQuota(thread)),
        (thread) => thread.user_id,
      )
      for (const [userId, own] of owners) await releaseQuota(collections, { userId, places: own.length }, session)
    })
  }
}
