import { createHash } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import type { LoginFailuresRecord } from '../../domain/records/login-failures.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'

export const maxFailures = 10
export const failureWindowMs = 15 * 60 * 1000

export type LoginGuard = ReturnType<typeof createLoginGuard>

/**
 * Slows down the guessing of passwords: after ten wrong ones in a row within fifteen minutes of the
 * first, every further attempt is refused until the window ends. The count is in the database, so it
 * outlives the process and holds across processes. Each outcome is recorded by one atomic statement,
 * so guesses that arrive at once get no more than ten either: the right one among them is refused
 * when ten wrong ones were recorded before it.
 */
export function createLoginGuard({ loginFailures }: Pick<Collections, 'loginFailures'>) {
  const refuseIfSlowedDown = async (email: string) => {
    const record = await loginFailures
      .findOne({ _id: loginFailureKey(email), count: { $gte: maxFailures }, window_ends: { $gt: new Date() } })
      .lean<LoginFailuresRecord>()
    if (record !== null) throw slowedDown(record)
  }

  return {
    /** To be called before the password is looked at. */
    refuseIfSlowedDown,

    /** Counts a wrong password; throws `too_many_requests` when it came too late to count. */
    async recordFailure(email: string): Promise<void> {
      const record = await countFailure(email).catch((error: unknown) => {
        // Two first failures at once: one made the record, the other counts on it.
        if (isDuplicateKey(error)) return countFailure(email)
        throw error
      })
      if (record.count > maxFailures) throw slowedDown(record)
    },

    /** Ends the row, unless it is complete already. */
    async recordSuccess(email: string): Promise<void> {
      const now = new Date()
      const row = {
        _id: loginFailureKey(email),
        $or: [{ count: { $lt: maxFailures } }, { window_ends: { $lte: now } }],
      }
      const { deletedCount } = await loginFailures.deleteOne(row)
      if (deletedCount === 0) await refuseIfSlowedDown(email)
    },

    /** Ends the row whatever its state: the owner proved to be one in another way. */
    async forget(email: string): Promise<void> {
      await loginFailures.deleteOne({ _id: loginFailureKey(email) })
    },
  }

  async function countFailure(email: string): Promise<LoginFailuresRecord> {
    const now = new Date()
    const open = { $gt: ['$window_ends', now] }
    const record = await loginFailures
      .findOneAndUpdate(
        { _id: loginFailureKey(email) },
        [
          {
            $set: {
              count: { $cond: [open, { $add: ['$count', 1] }, 1] },
              window_ends: { $cond: [open, '$window_ends', new Date(now.getTime() + failureWindowMs)] },
            },
          },
        ],
        { upsert: true, returnDocument: 'after', updatePipeline: true },
      )
      .lean<LoginFailuresRecord>()
    if (record === null) throw new Error('a failed login could not be counted')
    return record
  }
}

function slowedDown(record: LoginFailuresRecord): AppError {
  const seconds = Math.max(1, Math.ceil((record.window_ends.getTime() - Date.now()) / 1000))
  return new AppError('too_many_requests', 'Too many wrong passwords; try again later or reset the password.', {
    retryAfterSeconds: seconds,
  })
}

/** Under which the row of an address is kept. */
export function loginFailureKey(email: string): string {
  return createHash('sha256').update(email).digest('hex')
}
