import type { ClientSession } from 'mongoose'
import { largestOf } from '../../domain/extremes.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { purchaseStore } from '../stores/purchases.ts'
import { userStore } from '../stores/users.ts'

/**
 * Updates a user's `thread_max`, within a transaction: the larger of the quota without plans (`base`, if it
 * changes) and what the active plans allow. If it is lower than the number of existing threads, nothing is deleted,
 * but no thread can be created. Null if there is no such user.
 */
export async function applyThreadMax(
  collections: Pick<Collections, 'users' | 'purchases'>,
  { userId, base }: { userId: string; base?: number },
  session: ClientSession,
): Promise<UserRecord | null> {
  // A real change first, so that two transactions about one user conflict, and one of them is repeated with the
  // result of the other.
  const users = userStore(collections)
  const user = await users.findLocked(userId, session)
  if (user === null) return null
  const without = base ?? user.thread_max_base ?? user.thread_max
  const active = await purchaseStore(collections).listAllowed(userId, session)
  const threadMax = largestOf(
    active.map((purchase) => purchase.thread_max),
    without,
  )
  return users.change(userId, { thread_max: threadMax, thread_max_base: without }, session)
}
