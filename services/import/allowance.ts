import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import { dayOf } from '../../domain/records/budget.ts'
import { requireUsable } from '../auth/usable.ts'
import type { Collections } from '../collections.ts'
import { type Usable, userStore } from '../stores/users.ts'
import type { RunInTransaction } from '../transactions.ts'

const megabyte = 1024 * 1024
/** Bytes are counted in portions of this size. */
const portionBytes = 4 * megabyte

interface AllowanceDeps {
  collections: Pick<Collections, 'users'>
  /** Creations write to the user's record in transactions too. */
  transaction: RunInTransaction
}

/**
 * What one import may still do. `check` takes the unpacked bytes so far and is called before each write: it throws
 * `forbidden` when the account was suspended or deleted since, and `too_many_requests` when the user has imported
 * `maxMb` on this day (UTC). `end` counts the rest.
 */
export function createAllowance(
  { collections, transaction }: AllowanceDeps,
  { userId, maxMb }: { userId: string; maxMb: number },
) {
  const users = userStore(collections)
  let counted = 0
  let isBegun = false

  return {
    async check(unpacked: number): Promise<void> {
      if (!isBegun || unpacked - counted >= portionBytes) await count(unpacked)
      else requireUsable(await read())
      isBegun = true
    },

    async end(unpacked: number): Promise<void> {
      const bytes = unpacked - counted
      if (!isBegun || bytes === 0) return
      await transaction((session) => users.addImported(userId, bytes, session))
    },
  }

  async function count(unpacked: number): Promise<void> {
    const maxBytes = maxMb * megabyte
    const day = dayOf(new Date())
    await transaction(async (session) => {
      const begun = { day, bytes: unpacked - counted, maxBytes }
      if (await users.countImported(userId, begun, session)) return
      requireUsable(await read(session))
      throw usedUp(maxMb)
    })
    counted = unpacked
  }

  async function read(session?: ClientSession): Promise<Usable> {
    return (await users.findState(userId, session)) ?? { deleting: true }
  }
}

function usedUp(maxMb: number): AppError {
  const now = new Date()
  const tomorrow = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  return new AppError(
    'too_many_requests',
    `This account has imported ${maxMb} MB today. What came before stays: repeat the import after 00:00 UTC.`,
    { retryAfterSeconds: Math.max(1, Math.ceil((tomorrow - now.getTime()) / 1000)) },
  )
}
