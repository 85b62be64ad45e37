import type { DeletionCondition, DeletionTarget } from '../../domain/contracts/deletion.ts'
import type { RunInTransaction } from '../transactions.ts'
import { changeAll } from './many.ts'
import { type OwnerCollections, ownedBy } from './members.ts'

interface FenceDeps {
  collections: OwnerCollections
  transaction: RunInTransaction
}

/**
 * Closes what is to be deleted to everything new, from the top down: creations write to their nearest
 * parent under the condition that it is not being deleted, so that after this nothing joins. Answers
 * whose it is, or null when there is nothing or the condition does not hold. Safe to repeat; `again`
 * only renews a fence that stands, so that it never takes a user that a token made anew.
 */
export async function fence(
  { collections, transaction }: FenceDeps,
  target: DeletionTarget,
  how: { condition: DeletionCondition } | 'again',
): Promise<{ userId: string } | null> {
  const root = await fenceRoot(collections, target, how === 'again' ? { deleting: true } : dueUnder(how.condition))
  if (root === null) return null
  const owned = ownedBy(target)
  const { projects, assistants, threads } = collections
  const open = { deleting: { $ne: true } } as const
  await changeAll(
    transaction,
    (limit) =>
      projects
        .find({ ...owned.projects, ...open }, id)
        .limit(limit)
        .lean(),
    (ids, session) => projects.updateMany({ _id: { $in: ids } }, closingProject, { session, updatePipeline: true }),
  )
  await changeAll(
    transaction,
    (limit) =>
      assistants
        .find({ ...owned.assistants, ...open }, id)
        .limit(limit)
        .lean(),
    (ids, session) => assistants.updateMany({ _id: { $in: ids } }, closing, { session }),
  )
  await changeAll(
    transaction,
    (limit) =>
      threads
        .find({ ...owned.threads, ...open }, id)
        .limit(limit)
        .lean(),
    (ids, session) => threads.updateMany({ _id: { $in: ids } }, closing, { session }),
  )
  return root
}

const id = { _id: 1 } as const

/** `holds` is raised too, so that the fence is a change even where the mark was there already. */
const closing = { $set: { deleting: true }, $inc: { holds: 1 } }

/** A project that is being deleted gives its name back at once: `main` may come again before the end. */
const closingProject = [{ $set: { deleting: true, name: { $concat: ['$name', ' (deleted ', '$_id', ')'] } } }]

async function fenceRoot(
  { users, projects, assistants, threads }: OwnerCollections,
  { kind, id }: DeletionTarget,
  due: object,
): Promise<{ userId: string } | null> {
  const owner = { user_id: 1 } as const
  const root = { _id: id, ...due }
  switch (kind) {
    case 'account': {
      const user = await users.findOneAndUpdate(root, closing, { projection: { _id: 1 } }).lean()
      return user === null ? null : { userId: user._id }
    }
    case 'project':
      return ownerOf(await projects.findOne(root, owner).lean())
    case 'assistant':
      return ownerOf(await assistants.findOne(root, owner).lean())
    case 'thread':
      return ownerOf(await threads.findOne(root, owner).lean())
  }
}

const ownerOf = (record: { user_id: string } | null) => (record === null ? null : { userId: record.user_id })

/** A clean-up only takes who is still due when the fence falls. */
function dueUnder({ inactiveSince, unverifiedSince }: DeletionCondition): object {
  if (inactiveSince === undefined && unverifiedSince === undefined) return {}
  const condition = {
    ...(inactiveSince === undefined ? {} : { last_active_at: { $lt: new Date(inactiveSince) } }),
    ...(unverifiedSince === undefined ? {} : { verified: false, created_at: { $lt: new Date(unverifiedSince) } }),
  }
  return { $or: [{ deleting: true }, condition] }
}
