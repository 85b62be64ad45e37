import type { ClientSession } from 'mongoose'
import { AppError } from '../domain/errors.ts'
import type { Collections } from './collections.ts'

type HeldCollections = Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads'>

/**
 * What makes a deletion's fence hold: whoever creates something writes to its parent, in the same
 * transaction, under the condition that the parent is there and not being deleted. The fence is a
 * write to the same record, so that a creation either came before it (and is deleted with the rest)
 * or is refused. Deletions fence from the top down, so the nearest parent is enough.
 */
export async function holdUser(
  { users }: Pick<HeldCollections, 'users'>,
  userId: string,
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await users.updateOne({ _id: userId, deleting: { $ne: true } }, touch, { session })
  if (matchedCount === 0) throw new AppError('forbidden', 'This account is being deleted.')
}

export async function holdProject(
  { projects }: Pick<HeldCollections, 'projects'>,
  { projectId, userId }: { projectId: string; userId: string },
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await projects.updateOne(
    { _id: projectId, user_id: userId, deleting: { $ne: true } },
    touch,
    { session },
  )
  if (matchedCount === 0) throw new AppError('forbidden', 'The project is not available.')
}

export async function holdThread(
  { threads }: Pick<HeldCollections, 'threads'>,
  threadId: string,
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await threads.updateOne({ _id: threadId, deleting: { $ne: true } }, touch, { session })
  if (matchedCount === 0) throw new AppError('not_found', 'There is no such thread.')
}

/**
 * The other way to keep a creation and a fence from missing each other, without a write that all
 * creations beneath one parent would fight for: store first, look afterwards, and take back what
 * came too late. Either the look sees the fence, or the deletion that follows the fence sees what
 * was stored.
 */
export async function parentsRemain(
  { projects, assistants }: Pick<HeldCollections, 'projects' | 'assistants'>,
  stored: { project_id: string; assistant_id?: string },
): Promise<boolean> {
  const [project, assistant] = await Promise.all([
    projects.exists({ _id: stored.project_id, deleting: { $ne: true } }),
    assistants.exists({ _id: stored.assistant_id, deleting: { $ne: true } }),
  ])
  return project !== null && assistant !== null
}

/** As `parentsRemain`, for what is stored beneath a thread. */
export async function threadRemains({ threads }: Pick<HeldCollections, 'threads'>, threadId: string): Promise<boolean> {
  return (await threads.exists({ _id: threadId, deleting: { $ne: true } })) !== null
}

/** A real change: a write that changes nothing would not conflict with the fence. */
const touch = { $inc: { holds: 1 } } as const
