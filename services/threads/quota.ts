import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'

/**
 * Counts a new thread against the user's quota, within the transaction that creates the thread, so that the counter
 * is exact after any crash. Throws `forbidden` if the quota is used up or the account is being deleted.
 */
export async function takePlace(
  { users }: Pick<Collections, 'users'>,
  userId: string,
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await users.updateOne(
    { _id: userId, deleting: { $ne: true }, $expr: { $lt: ['$thread_counter', '$thread_max'] } },
    { $inc: { thread_counter: 1 } },
    { session },
  )
  if (matchedCount > 0) return
  const user = await users.findOne({ _id: userId }, { deleting: 1 }, { session }).lean()
  if (user === null || user.deleting) throw new AppError('forbidden', 'This account is being deleted.')
  throw new AppError('forbidden', 'You have as many chats as you may have. Delete some, or ask the operator for more.')
}

/** Whether a thread counts against the quota of its owner. */
export function takesPlace(thread: Pick<ThreadRecord, 'public' | 'counted'>): boolean {
  return thread.counted ?? !thread.public
}

/** Decrements the thread count, within the transaction that removes the threads. */
export async function givePlacesBack(
  { users }: Pick<Collections, 'users'>,
  { userId, places }: { userId: string; places: number },
  session: ClientSession,
): Promise<void> {
  if (places > 0) await users.updateOne({ _id: userId }, { $inc: { thread_counter: -places } }, { session })
}
