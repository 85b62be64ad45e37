import type { Stripe } from 'stripe'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import type { Collections } from '../collections.ts'
import { pauseBeyondMax } from '../schedules/schedule-quota.ts'
import { purchaseStore } from '../stores/purchases.ts'
import type { RunInTransaction } from '../transactions.ts'
import { covers } from './covers.ts'
import { isOver, readPurchaseState } from './purchase-state.ts'
import { applyThreadMax } from './thread-max.ts'

interface PurchasesDeps {
  collections: Pick<Collections, 'users' | 'purchases' | 'schedules'>
  transaction: RunInTransaction
  settings: { scheduleMaxDefault: number }
}

export type Purchases = ReturnType<typeof createPurchases>

export function createPurchases({ collections, transaction, settings }: PurchasesDeps) {
  const purchases = purchaseStore(collections)

  /**
   * Stores the provider's current state and updates the user's quotas, in one transaction, unless a look-up that began
   * later has stored its state already. Null then, or if the purchase is gone. A newer look-up that is under way is
   * no reason to store nothing: it may fail.
   */
  async function refresh(stripe: Stripe, purchase: PurchaseRecord): Promise<PurchaseRecord | null> {
    const inspected = await purchases.beginInspection(purchase)
    if (inspected === null) return null
    const state = await readPurchaseState(stripe, inspected)
    if (state.status === 'active') await endSmaller(stripe, { ...inspected, ...state })
    return transaction(async (session) => {
      const changes = { ...state, stored_look: inspected.looks, updated_at: new Date() }
      const before = await purchases.storeInspection(inspected, changes, session)
      if (before === null) return null
      if (before.status !== state.status || before.thread_max !== state.thread_max)
        await applyThreadMax(collections, { userId: before.user_id }, session)
      const scheduleMax = state.schedule_max ?? before.schedule_max
      if (before.status !== state.status || before.schedule_max !== scheduleMax)
        await pauseBeyondMax(collections, { userId: before.user_id, most: settings.scheduleMaxDefault }, session)
      const { url, ...stored } = { ...before, ...changes }
      return state.status === 'open' && url !== undefined ? { ...stored, url } : stored
    })
  }

  /** The user's purchases, newest first. Those that can still change are read from the provider. */
  async function refreshAll(stripe: Stripe, userId: string): Promise<PurchaseRecord[]> {
    for (const purchase of await purchases.listOwned(userId)) if (!isFinal(purchase)) await refresh(stripe, purchase)
    return purchases.listOwned(userId)
  }

  /** Subscriptions to plans that the new one covers are not paid again. What is paid for them stays until its end. */
  async function endSmaller(stripe: Stripe, plan: PurchaseRecord): Promise<void> {
    const smaller = await purchases.listOtherSubscriptions(plan)
    for (const { subscription_id: id = '', ...other } of smaller) {
      // Of two that allow the same, the older one goes on.
      if (!covers(plan, other) || (covers(other, plan) && other.created_at < plan.created_at)) continue
      const { status, cancel_at_period_end: isEnding } = await stripe.subscriptions.retrieve(id)
      if (!isOver(status) && !isEnding) await stripe.subscriptions.update(id, { cancel_at_period_end: true })
    }
  }

  return { refresh, refreshAll }
}

const isFinal = ({ status, subscription_id: subscription }: PurchaseRecord) =>
  status === 'expired' || (status === 'ended' && subscription === undefined)
