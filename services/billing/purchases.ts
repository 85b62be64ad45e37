import type { Stripe } from 'stripe'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import type { Collections } from '../collections.ts'
import type { RunInTransaction } from '../transactions.ts'
import { readPurchaseState } from './purchase-state.ts'
import { applyThreadMax } from './thread-max.ts'

interface PurchasesDeps {
  collections: Pick<Collections, 'users' | 'purchases'>
  transaction: RunInTransaction
}

/** The rate limit of checkouts keeps users below this number. */
const purchasesRead = 1000

export type Purchases = ReturnType<typeof createPurchases>

export function createPurchases({ collections, transaction }: PurchasesDeps) {
  const { purchases } = collections
  return {
    /** The user's purchases, newest first. */
    of: (userId: string): Promise<PurchaseRecord[]> =>
      purchases.find({ user_id: userId }).sort({ created_at: -1 }).limit(purchasesRead).lean<PurchaseRecord[]>(),

    /**
     * Stores the provider's current state and updates the user's quota, in one transaction. Of several simultaneous
     * look-ups the newest wins. Null if a newer one is under way, or the purchase is gone.
     */
    async refresh(stripe: Stripe, { _id }: PurchaseRecord): Promise<PurchaseRecord | null> {
      const looked = await purchases
        .findOneAndUpdate({ _id }, { $inc: { looks: 1 } }, { returnDocument: 'after' })
        .lean<PurchaseRecord>()
      if (looked === null) return null
      const state = await readPurchaseState(stripe, looked)
      return transaction(async (session) => {
        const changes = { $set: { ...state, updated_at: new Date() } }
        const stored = await purchases
          .findOneAndUpdate(
            { _id, looks: looked.looks },
            state.status === 'open' ? changes : { ...changes, $unset: { url: 1 } },
            { session, returnDocument: 'after' },
          )
          .lean<PurchaseRecord>()
        const isUnchanged = looked.status === state.status && looked.thread_max === state.thread_max
        if (stored !== null && !isUnchanged) await applyThreadMax(collections, { userId: stored.user_id }, session)
        return stored
      })
    },
  }
}
