import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import type { PageRange } from '../page.ts'
import { operatedUserStore } from './store.ts'

export interface UserSelection {
  kind: 'inactive-users' | 'unverified-users'
  before: Date
}

const firstUsers: PageRange = { limit: 1000, offset: 0 }

/** The users that a clean-up deletes. Accounts that are being deleted already are excluded. */
export function createUserSelections(collections: Pick<Collections, 'users'>) {
  const accounts = operatedUserStore(collections)

  return {
    /** Users, least recently active or oldest first, and their total number. */
    list(selection: UserSelection, range: PageRange = firstUsers): Promise<{ users: UserRecord[]; total: number }> {
      const order = selection.kind === 'inactive-users' ? 'last_active_at' : 'created_at'
      return accounts.listOfAny(filterOf(selection), { [order]: 1, _id: 1 }, range)
    },

    /** Ids in ascending order, for iterating over all of them. */
    idsAfter: (selection: UserSelection, after: string | undefined, limit: number): Promise<string[]> =>
      accounts.idsOfAny({ ...filterOf(selection), ...(after === undefined ? {} : { _id: { $gt: after } }) }, limit),
  }
}

export type UserSelections = ReturnType<typeof createUserSelections>

function filterOf({ kind, before }: UserSelection) {
  const present = { deleting: { $ne: true } } as const
  return kind === 'inactive-users'
    ? { ...present, last_active_at: { $lt: before } }
    : { ...present, verified: false, created_at: { $lt: before } }
}
