import type { DeletionCondition, DeletionTarget } from '../../domain/contracts/deletion.ts'
import type { RunInTransaction } from '../transactions.ts'
import { updateAll } from '../owned-data/erase-all.ts'
import { type OwnerCollections, ownedBy } from './members.ts'

interface MarkDeps {
  collections: OwnerCollections
  transaction: RunInTransaction
}

/**
 * Sets the deletion marker on the target and everything below it, from the top down. A creation writes to its
 * nearest parent under the condition that the parent is not being deleted, so nothing can be created below after
 * this. Returns the owner, or null if there is nothing to delete or the condition does not hold. Safe to repeat.
 * `again` only renews an existing marker, so that it never deletes a user that a token has created again.
 */
export async function setDeletionMarkers(
  { collections, transaction }: MarkDeps,
  target: DeletionTarget,
  how: { condition: DeletionCondition } | 'again',
): Promise<{ userId: string } | null> {
  const root = await markRoot(collections, target, how === 'again' ? { deleting: true } : dueUnder(how.condition))
  if (root === null) return null
  const owned = await ownedBy(collections, target)
  const { projects, assistants, threads } = collections
  const open = { deleting: { $ne: true } } as const
  await updateAll(transaction, projects, { ...owned.projects, ...open }, markedProject)
  await updateAll(transaction, assistants, { ...owned.assistants, ...open }, marked)
  await updateAll(transaction, threads, { ...owned.threads, ...open }, marked)
  return root
}

/** `holds` is incremented too, so that the statement is a change even if the marker is set already. */
const marked = { $set: { deleting: true }, $inc: { holds: 1 } }

/**
 * A project that is being deleted releases its name at once: a new `main` may be created before the deletion ends.
 */
const markedProject = [{ $set: { deleting: true, name: { $concat: ['$name', ' (deleted ', '$_id', ')'] } } }]

async function markRoot(
  { users, projects, assistants, threads }: OwnerCollections,
  { kind, id }: DeletionTarget,
  due: object,
): Promise<{ userId: string } | null> {
  const owner = { user_id: 1 } as const
  const root = { _id: id, ...due }
  switch (kind) {
    case 'account': {
      const user = await users.findOneAndUpdate(root, marked, { projection: { _id: 1 } }).lean()
      return user === null ? null : { userId: user._id }
    }
    case 'project':
      return ownerOf(await projects.findOne(root, owner).lean())
    case 'assistant':
    case 'vector_store':
      return ownerOf(await assistants.findOne(root, owner).lean())
    case 'thread':
      return ownerOf(await threads.findOne(root, owner).lean())
  }
}

const ownerOf = (record: { user_id: string } | null) => (record === null ? null : { userId: record.user_id })

/** A clean-up deletes only users who still match when the marker is set. */
function dueUnder({ inactiveSince, unverifiedSince }: DeletionCondition): object {
  if (inactiveSince === undefined && unverifiedSince === undefined) return {}
  const condition = {
    ...(inactiveSince === undefined ? {} : { last_active_at: { $lt: new Date(inactiveSince) } }),
    ...(unverifiedSince === undefined ? {} : { verified: false, created_at: { $lt: new Date(unverifiedSince) } }),
  }
  return { $or: [{ deleting: true }, condition] }
}
