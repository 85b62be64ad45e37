import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError } from '../../domain/errors.ts'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { UserUsage } from '../accounts/usage.ts'
import { applyThreadMax } from '../billing/thread-max.ts'
import type { Collections } from '../collections.ts'
import type { PageRange } from '../page.ts'
import type { ListedRun } from '../runs/index.ts'
import type { RunInTransaction } from '../transactions.ts'
import { operatedStore, operatedUserStore } from './store.ts'

interface AccountAdminDeps {
  collections: Pick<Collections, 'users' | 'purchases' | 'runs'>
  transaction: RunInTransaction
  usageOf(userId: string): Promise<UserUsage>
}

/** What the operator's page shows of one user: no message text and no configuration. */
export interface AccountView {
  user: UserRecord
  usage: UserUsage
  recentRuns: ListedRun[]
  purchases: PurchaseRecord[]
}

const recentRuns = 20
/** A search reads all addresses. */
const searchMs = 10_000
const purchasesShown = 50

/** One user, as administrators see and change it. */
export function createAccountAdmin({ collections, transaction, usageOf }: AccountAdminDeps) {
  const accounts = operatedUserStore(collections)
  const store = operatedStore(collections)

  return {
    /** By the exact e-mail address, case-insensitive. */
    byEmail: async (email: string): Promise<AccountView> =>
      view(await accounts.findByAddressOfAny(normalizeEmail(email))),

    byId: async (userId: string): Promise<AccountView> => view(await accounts.findOfAny(userId)),

    /** Those whose address contains the text, the newest first; without a text all. */
    async list(search: string | undefined, range: PageRange): Promise<{ users: UserRecord[]; total: number }> {
      const text = search
        ?.trim()
        .toLowerCase()
        .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
      const filter = text ? { $or: [{ email: { $regex: text } }, { _id: search?.trim() }] } : {}
      return accounts.listOfAny(filter, { _id: -1 }, range, { maxTimeMS: searchMs })
    },

    /** Sets the thread quota without plans; active plans can still raise it. */
    async setThreadMax(userId: string, base: number): Promise<void> {
      const user = await transaction((session) => applyThreadMax(collections, { userId, base }, session))
      if (user === null) throw noSuchUser()
    },

    /** What the user's files may take together; null: as the settings say. Files that exist stay. */
    async setStorageMax(userId: string, megabytes: number | null): Promise<void> {
      if (!(await accounts.setStorageMaxOfAny(userId, megabytes))) throw noSuchUser()
    },
  }

  async function view(user: UserRecord | null): Promise<AccountView> {
    if (user === null) throw noSuchUser()
    const [usage, recent, bought] = await Promise.all([
      usageOf(user._id),
      store.listNewestRunsOfAny(user._id, recentRuns),
      store.listPurchasesOfAny(user._id, purchasesShown),
    ])
    return { user, usage, recentRuns: recent, purchases: bought }
  }
}

export const noSuchUser = () => new AppError('not_found', 'There is no such user.')
