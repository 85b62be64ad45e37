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
      for (;;) {
        const record = await countFailure(email)
        if (record !== null) {
          if (record.count > maxFailures) throw slowedDown(record)
          return
        }
        await beginRow(email)
      }
    },

    /** Ends the series of failures, unless it has reached its limit already. */
    async recordSuccess(email: string): Promise<void> {
      const now = new Date()
      const row = {
        _id: loginFailureKey(email),
        $or: [{ count: { $lt: maxFailures } }, { window_ends: { $lte: now } }],
      }
      const { deletedCount } = await loginFailures.deleteOne(row)
      if (deletedCount === 0) await refuseIfSlowedDown(email)
    },
  }

  /** Null when there is no row yet. Not an upsert: two of those at once are not answered alike by all databases. */
  function countFailure(email: string): Promise<LoginFailuresRecord | null> {
    const now = new Date()
    const open = { $gt: ['$window_ends', now] }
    return loginFailures
      .findOneAndUpdate(
        { _id: loginFailureKey(email) },
        [
          {
            $set: {
              count: { $cond: [open, { $add: ['$count', 1] }, 1] },
              window_ends: { $cond: [open, '$window_ends', endOfWindow(now)] },
            },
          },
        ],
        { returnDocument: 'after', updatePipeline: true },
      )
      .lean<LoginFailuresRecord>()
      .exec()
  }

  async function beginRow(email: string): Promise<void> {
    const row = { _id: loginFailureKey(email), count: 0, window_ends: endOfWindow(new Date()) }
    await loginFailures.create(row).catch((error: unknown) => {
      // Another first failure at the same time made it.
      if (!isDuplicateKey(error)) throw error
    })
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

/** Under which the row of an address is kept. */
export function loginFailureKey(email: string): string {
  return createHash('sha256').update(email).digest('hex')
}
