import type { ClientSession } from 'mongoose'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'

/**
 * Makes a user's `thread_max` what it should be, within a transaction: the larger of what the user has without plans
 * (`base`, when it is to change) and what the active plans allow. It may be less than the user has threads: then
 * nothing is deleted, and no new thread is made until there is room. Null when there is no such user.
 */
export async function applyThreadMax(
  { users, purchases }: Pick<Collections, 'users' | 'purchases'>,
  { userId, base }: { userId: string; base?: number },
  session: ClientSession,
): Promise<UserRecord | null> {
  // A real change first: of two transactions about one user, one gives way and is repeated with what the other wrote.
  const user = await users
    .findOneAndUpdate({ _id: userId }, { $inc: { holds: 1 } }, { session, returnDocument: 'after' })
    .lean<UserRecord>()
  if (user === null) return null
  const without = base ?? user.thread_max_base ?? user.thread_max
  const active = await purchases
    .find({ user_id: userId, status: 'active' }, { thread_max: 1 }, { session })
    .lean<{ thread_max: number }[]>()
  const threadMax = Math.max(without, ...active.map((purchase) => purchase.thread_max))
  return users
    .findOneAndUpdate(
      { _id: userId },
      { $set: { thread_max: threadMax, thread_max_base: without } },
      { session, returnDocument: 'after' },
    )
    .lean<UserRecord>()
}
