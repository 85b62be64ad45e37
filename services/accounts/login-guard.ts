import { createHash } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import type { LoginFailuresRecord } from '../../domain/records/login-failures.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'

export const maxFailures = 10
export const failureWindowMs = 15 * 60 * 1000

export type LoginGuard = ReturnType<typeof createLoginGuard>

/**
 * Limits the guessing of passwords: after ten wrong ones in a row within fifteen minutes of the first, every
 * further attempt is refused until the window ends. The count is in the database, so it survives restarts and is
 * shared by all processes. Each outcome is recorded by one atomic statement, so simultaneous guesses get no more
 * than ten attempts either: a right password among them is refused if ten wrong ones were recorded before it.
 */
export function createLoginGuard({ loginFailures }: Pick<Collections, 'loginFailures'>) {
  const refuseIfSlowedDown = async (email: string) => {
    const record = await loginFailures
      .findOne({ _id: loginFailureKey(email), count: { $gte: maxFailures }, window_ends: { $gt: new Date() } })
      .lean<LoginFailuresRecord>()
    if (record !== null) throw slowedDown(record)
  }

  return {
    /** Call before the password is checked. */
    refuseIfSlowedDown,

    /** Counts a wrong password; throws `too_many_requests` if the limit was reached before. */
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

    /** Resets the count, unless it has reached the limit. */
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

  /** Null if there is no record yet. No upsert, because databases answer two simultaneous ones differently. */
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
      // Another first failure at the same time created it.
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

/** The key of an address's record. */
export function loginFailureKey(email: string): string {
  return createHash('sha256').update(email).digest('hex')
}
