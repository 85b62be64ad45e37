import type { ClientSession } from 'mongoose'
import type { DeletionTarget, StoreCounts } from '../../domain/contracts/deletion.ts'
import { givePlacesBack, takesPlace } from '../threads/quota.ts'
import type { RunInTransaction } from '../transactions.ts'
import { eraseAll, updateAll } from '../owned-data/erase-all.ts'
import { type OwnerCollections, ownedBy } from './members.ts'

interface OwnersDeps {
  collections: OwnerCollections
  transaction: RunInTransaction
}

const batchSize = 200
const placeMembers = { user_id: 1, public: 1, counted: 1 } as const
/** Only marked records: a user that a token created again after the deletion is another one. */
const marked = { deleting: true } as const

/** Removes all owners below the root, whose contents have been removed. Safe to repeat. */
export async function removeOwnersBelow(deps: OwnersDeps, target: DeletionTarget): Promise<void> {
  const { collections, transaction } = deps
  const { assistants, projects, threads } = collections
  const owned = await ownedBy(collections, target)
  const notRoot = { _id: { $ne: target.id } }
  await removeThreads(deps, { $and: [owned.threads, target.kind === 'thread' ? notRoot : {}], ...marked })
  if (target.kind !== 'thread') {
    const assistantIds = await assistants.find({ ...owned.assistants, ...marked }, { _id: 1 }).lean()
    const references = { assistant_id: { $in: assistantIds.map((assistant) => assistant._id) } }
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
  const { users, projects, assistants, threads } = collections
  const owned = await ownedBy(collections, target)
  const [threadCount, assistantCount, storeCount, projectCount, userCount] = await Promise.all([
    threads.countDocuments(owned.threads),
    assistants.countDocuments({ ...owned.assistants, kind: { $ne: 'vector_store' } }),
    assistants.countDocuments({ ...owned.assistants, kind: 'vector_store' }),
    projects.countDocuments(owned.projects),
    target.kind === 'account' ? users.countDocuments({ _id: target.id }) : 0,
  ])
  return {
    threads: threadCount,
    assistants: assistantCount,
    vector_stores: storeCount,
    projects: projectCount,
    users: userCount,
  }
}

/**
 * Removes the root itself, within a transaction. False if it is gone already. Deleting a thread also decrements the
 * owner's thread count.
 */
export async function removeRoot(
  { users, projects, assistants, threads }: OwnerCollections,
  { kind, id }: DeletionTarget,
  session: ClientSession,
): Promise<boolean> {
  const root = { _id: id, ...marked }
  switch (kind) {
    case 'account':
      return (await users.deleteOne(root, { session })).deletedCount > 0
    case 'project':
      return (await projects.deleteOne(root, { session })).deletedCount > 0
    case 'assistant':
    case 'vector_store':
      return (await assistants.deleteOne(root, { session })).deletedCount > 0
    case 'thread': {
      const thread = await threads.findOneAndDelete(root, { session, projection: placeMembers }).lean()
      if (thread === null) return false
      await givePlacesBack({ users }, { userId: thread.user_id, places: takesPlace(thread) ? 1 : 0 }, session)
      return true
    }
  }
}

/** In batches, each in one transaction with the thread counter, so that the counter is exact after any crash. */
async function removeThreads({ collections, transaction }: OwnersDeps, filter: object): Promise<void> {
  const { threads } = collections
  for (;;) {
    const batch = await threads.find(filter, { _id: 1 }).limit(batchSize).lean()
    if (batch.length === 0) return
    await transaction(async (session) => {
      const here = await threads
        .find({ _id: { $in: batch.map((thread) => thread._id) } }, placeMembers, { session })
        .lean()
      await threads.deleteMany({ _id: { $in: here.map((thread) => thread._id) } }, { session })
      const owners = Map.groupBy(
        here.filter((thread) => takesPlace(thread)),
        (thread) => thread.user_id,
      )
      for (const [userId, own] of owners) await givePlacesBack(collections, { userId, places: own.length }, session)
    })
  }
}
