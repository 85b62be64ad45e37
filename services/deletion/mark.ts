import type { DeletionCondition, DeletionTarget } from '../../domain/contracts/deletion.ts'
import type { RunInTransaction } from '../transactions.ts'
import { updateAll } from '../owned-data/erase-all.ts'
import { ownedBy } from './members.ts'
import { type OwnerCollections, deletedOwnerStore, setMarker } from './store.ts'

interface MarkDeps {
  collections: OwnerCollections
  transaction: RunInTransaction
}

/**
 * Sets the deletion marker on the target and everything below it, from the top down. A creation writes to its
 * nearest parent under the condition that the parent is not being deleted, so nothing can be created below after
 * this. Returns the owner, or null if there is nothing to delete or the condition does not hold. Safe to repeat.
 * `first` is done between the root and the rest. `again` only renews an existing marker, so that it never deletes a user that a token has created again.
 */
export async function setDeletionMarkers(
  { collections, transaction }: MarkDeps,
  target: DeletionTarget,
  how: { condition: DeletionCondition } | 'again',
  first?: () => Promise<void>,
): Promise<{ userId: string } | null> {
  const root = await deletedOwnerStore(collections).markRootOfAny(
    target,
    how === 'again' ? { deleting: true } : dueUnder(how.condition),
  )
  if (root === null) return null
  await first?.()
  const owned = await ownedBy(collections, target)
  const { projects, assistants, threads } = collections
  const open = { deleting: { $ne: true } } as const
  await updateAll(transaction, projects, { ...owned.projects, ...open }, markedProject)
  await updateAll(transaction, assistants, { ...owned.assistants, ...open }, setMarker)
  await updateAll(transaction, threads, { ...owned.threads, ...open }, setMarker)
  return root
}

/**
 * A project that is being deleted releases its name at once: a new `main` may be created before the deletion ends.
 */
const markedProject = [{ $set: { deleting: true, name: { $concat: ['$name', ' (deleted ', '$_id', ')'] } } }]

/** A clean-up deletes only users who still match when the marker is set. */
function dueUnder({ inactiveSince, unverifiedSince }: DeletionCondition): object {
  if (inactiveSince === undefined && unverifiedSince === undefined) return {}
  const condition = {
    ...(inactiveSince === undefined ? {} : { last_active_at: { $lt: new Date(inactiveSince) } }),
    ...(unverifiedSince === undefined ? {} : { verified: false, created_at: { $lt: new Date(unverifiedSince) } }),
  }
  return { $or: [{ deleting: true }, condition] }
}
