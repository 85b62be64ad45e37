import { LRUCache } from 'lru-cache'
import type { UserRecord } from '../domain/records/user.ts'
import type { Collections } from './collections.ts'
import { userStore } from './stores/users.ts'

/** Precision of `last_active_at`, so that not every use writes. */
export const activityPrecisionMs = 5 * 60 * 1000

/**
 * Notes that an account is in use: by its user, by its schedules, or by public callers of its assistants. The clean-up of
 * inactive users spares it then.
 */
export async function noteActivity(
  users: Collections['users'],
  { _id, last_active_at: known }: Pick<UserRecord, '_id'> & Partial<Pick<UserRecord, 'last_active_at'>>,
): Promise<void> {
  const now = new Date()
  const before = new Date(now.getTime() - activityPrecisionMs)
  if (known !== undefined && known > before) return
  await userStore({ users }).noteUse(_id, now, before)
}

const rememberedUsers = 10_000

/** The same for users whose record was not read: this process asks the database rarely. */
export function createNoteUse(users: Collections['users']) {
  const noted = new LRUCache<string, true>({ max: rememberedUsers, ttl: activityPrecisionMs })
  return async (userId: string): Promise<void> => {
    if (noted.has(userId)) return
    noted.set(userId, true)
    await noteActivity(users, { _id: userId })
  }
}
