import { type PublicUser, publicUser } from '../../domain/accounts.ts'
import { AppError } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { userStore } from '../stores/users.ts'
import type { LoginGuard } from './login-guard.ts'
import { type Passwords, checkNewPassword } from './passwords.ts'
import { accountStore, resetStore } from './store.ts'

/** New names and language; null removes a member, an absent one leaves it unchanged. */
interface ProfileChanges {
  first_name?: string | null
  last_name?: string | null
  language?: Language | null
}

interface ProfileDeps {
  collections: Pick<Collections, 'users' | 'passwordResets' | 'pendingPasswords'>
  passwords: Passwords
  guard: LoginGuard
}

/** What users can read and change about themselves. */
export function createProfile({ collections, passwords, guard }: ProfileDeps) {
  const accounts = accountStore(collections)

  return {
    async threadInfo(userId: string): Promise<{ thread_counter: number; thread_max: number }> {
      const user = await userStore(collections).findQuota(userId)
      if (user === null) throw new AppError('not_found', 'There is no thread information for this user.')
      return { thread_counter: user.thread_counter, thread_max: user.thread_max }
    },

    async change(userId: string, changes: ProfileChanges): Promise<PublicUser> {
      const members = (['first_name', 'last_name', 'language'] as const).filter((name) => changes[name] !== undefined)
      const set = Object.fromEntries(
        members.filter((name) => changes[name] !== null).map((name) => [name, changes[name]]),
      )
      const unset = Object.fromEntries(members.filter((name) => changes[name] === null).map((name) => [name, '']))
      const user = await accounts.change(userId, { $set: set, $unset: unset })
      if (user === null) throw new AppError('not_found', 'This account no longer exists.')
      return publicUser(user)
    },

    /**
     * Throws `bad_request` if the current password is wrong or the new one unacceptable; wrong guesses are limited
     * as at login.
     */
    async changePassword(user: UserRecord, input: { current_password: string; new_password: string }): Promise<void> {
      checkNewPassword(input.new_password)
      if (user.email === undefined || user.password_hash === undefined) {
        throw new AppError('bad_request', 'This account has no password.')
      }
      await guard.refuseIfSlowedDown(user.email)
      if (!(await passwords.matches(input.current_password, user.password_hash))) {
        await guard.recordFailure(user.email)
        throw new AppError('bad_request', 'The current password is wrong.')
      }
      await guard.recordSuccess(user.email)
      if (!(await accounts.changePassword(user, await passwords.hash(input.new_password))))
        throw new AppError('conflict', 'The password was changed at the same time.')
      // A pending reset link was requested to replace the old password, so it must not replace this one.
      await resetStore(collections).removeOwned(user._id)
    },
  }
}
