import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import type { PageRange } from '../page.ts'

export interface UserSelection {
  kind: 'inactive-users' | 'unverified-users'
  before: Date
}

const firstUsers: PageRange = { limit: 1000, offset: 0 }

/** The users that a clean-up deletes. Accounts that are being deleted already are excluded. */
export function createUserSelections({ users }: Pick<Collections, 'users'>) {
  return {
    /** Users, least recently active or oldest first, and their total number. */
    async list(
      selection: UserSelection,
      { limit, offset }: PageRange = firstUsers,
    ): Promise<{ users: UserRecord[]; total: number }> {
      const filter = filterOf(selection)
      const order = selection.kind === 'inactive-users' ? 'last_active_at' : 'created_at'
      const [found, total] = await Promise.all([
        users
          .find(filter, { password_hash: 0, verification: 0 })
          .sort({ [order]: 1, _id: 1 })
          .skip(offset)
          .limit(limit)
          .lean<UserRecord[]>(),
        users.countDocuments(filter),
      ])
      return { users: found, total }
    },

    /** Ids in ascending order, for iterating over all of them. */
    async idsAfter(selection: UserSelection, after: string | undefined, limit: number): Promise<string[]> {
      const page = { ...filterOf(selection), ...(after === undefined ? {} : { _id: { $gt: after } }) }
      const found = await users.find(page, { _id: 1 }).sort({ _id: 1 }).limit(limit).lean()
      return found.map((user) => user._id)
    },
  }
}

export type UserSelections = ReturnType<typeof createUserSelections>

function filterOf({ kind, before }: UserSelection) {
  const present = { deleting: { $ne: true } } as const
  return kind === 'inactive-users'
    ? { ...present, last_active_at: { $lt: before } }
    : { ...present, verified: false, created_at: { $lt: before } }
}
