import { createHash } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import type { LoginFailuresRecord } from '../../domain/records/login-failures.ts'
import type { Collections } from '../collections.ts'
import { loginFailureStore } from './store.ts'

export const maxFailures = 10
const failureWindowMs = 15 * 60 * 1000

export type LoginGuard = ReturnType<typeof createLoginGuard>

/**
 * Limits the guessing of passwords: after ten wrong ones in a row within fifteen minutes of the first, every
 * further attempt is refused until the window ends. The count is in the database, so it survives restarts and is
 * shared by all processes. Each outcome is recorded by one atomic statement, so simultaneous guesses get no more
 * than ten attempts either: a right password among them is refused if ten wrong ones were recorded before it.
 */
export function createLoginGuard(collections: Pick<Collections, 'loginFailures'>) {
  const failures = loginFailureStore(collections)
  const refuseIfSlowedDown = async (email: string) => {
    const record = await failures.findSlowedDown(loginFailureKey(email), maxFailures)
    if (record !== null) throw slowedDown(record)
  }

  return {
    /** Call before the password is checked. */
    refuseIfSlowedDown,

    /** Counts a wrong password; throws `too_many_requests` if the limit was reached before. */
    async recordFailure(email: string): Promise<void> {
      const key = loginFailureKey(email)
      for (;;) {
        const now = new Date()
        const record = await failures.count(key, now, endOfWindow(now))
        if (record !== null) {
          if (record.count > maxFailures) throw slowedDown(record)
          return
        }
        await failures.begin(key, endOfWindow(now))
      }
    },

    /** Resets the count, unless it has reached the limit. */
    async recordSuccess(email: string): Promise<void> {
      if (!(await failures.reset(loginFailureKey(email), maxFailures))) await refuseIfSlowedDown(email)
    },
  }
}

function endOfWindow(now: Date): Date {
  return new Date(now.getTime() + failureWindowMs)
}

function slowedDown(record: LoginFailuresRecord): AppError {
  const seconds = Math.max(1, Math.ceil((record.window_ends.getTime() - Date.now()) / 1000))
  return new AppError('too_many_requests', 'Too many wrong passwords; try again later or reset the password.', {
    retryAfterSeconds: seconds,
  })
}

/** The key of an address's record. */
export function loginFailureKey(email: string): string {
  return createHash('sha256').update(email).digest('hex')
}
