import { userStore } from '../stores/users.ts'
import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'

/**
 * Counts a new thread against the user's quota, within the transaction that creates the thread, so that the counter
 * is exact after any crash. Throws `forbidden` if the quota is used up or the account is being deleted.
 */
export async function takePlace(
  collections: Pick<Collections, 'users'>,
  userId: string,
  session: ClientSession,
): Promise<void> {
  const taken = await userStore(collections).countThread(userId, session)
  if (taken === 'counted') return
  if (taken === 'deleting') throw new AppError('forbidden', 'This account is being deleted.')
  throw new AppError('forbidden', 'You have as many chats as you may have. Delete some, or ask the operator for more.')
}

/** Whether a thread counts against the quota of its owner. */
export function countsInQuota(thread: Pick<ThreadRecord, 'public' | 'counted'>): boolean {
  return thread.counted ?? !thread.public
}

/** Decrements the thread count, within the transaction that removes the threads. */
export async function releaseQuota(
  collections: Pick<Collections, 'users'>,
  { userId, places }: { userId: string; places: number },
  session: ClientSession,
): Promise<void> {
  if (places > 0) await userStore(collections).uncountThreads(userId, places, session)
}
