import type { ClientSession } from 'mongoose'
import { largestOf } from '../../domain/extremes.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'

/**
 * Updates a user's `thread_max`, within a transaction: the larger of the quota without plans (`base`, if it
 * changes) and what the active plans allow. If it is lower than the number of existing threads, nothing is deleted,
 * but no thread can be created. Null if there is no such user.
 */
export async function applyThreadMax(
  { users, purchases }: Pick<Collections, 'users' | 'purchases'>,
  { userId, base }: { userId: string; base?: number },
  session: ClientSession,
): Promise<UserRecord | null> {
  // A real change first, so that two transactions about one user conflict, and one of them is repeated with the
  // result of the other.
  const user = await users
    .findOneAndUpdate({ _id: userId }, { $inc: { holds: 1 } }, { session, returnDocument: 'after' })
    .lean<UserRecord>()
  if (user === null) return null
  const without = base ?? user.thread_max_base ?? user.thread_max
  const active = await purchases
    .find({ user_id: userId, status: 'active' }, { thread_max: 1 }, { session })
    .lean<{ thread_max: number }[]>()
  const threadMax = largestOf(
    active.map((purchase) => purchase.thread_max),
    without,
  )
  return users
    .findOneAndUpdate(
      { _id: userId },
      { $set: { thread_max: threadMax, thread_max_base: without } },
      { session, returnDocument: 'after' },
    )
    .lean<UserRecord>()
}
