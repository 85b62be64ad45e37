import { AppError } from '../../domain/errors.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'

/** What users read and change about themselves. */
export function createProfile({ users }: Pick<Collections, 'users'>) {
  return {
    async threadInfo(userId: string): Promise<{ thread_counter: number; thread_max: number }> {
      const user = await users.findById(userId, { thread_counter: 1, thread_max: 1 }).lean<UserRecord>()
      if (user === null) throw new AppError('not_found', 'There is no thread information for this user.')
      return { thread_counter: user.thread_counter, thread_max: user.thread_max }
    },
  }
}
