import type { Stripe } from 'stripe'
import { AppError } from '../../domain/errors.ts'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import type { Collections } from '../collections.ts'
import { purchaseStore } from '../stores/purchases.ts'
import { idOf } from './id-of.ts'
import { type PaymentProvider, ask, isMissing, isRefused } from './provider.ts'
import { isOver } from './purchase-state.ts'

interface EndPurchasesDeps {
  collections: Pick<Collections, 'purchases'>
  provider: PaymentProvider | undefined
}

/** A refused change means that the purchase has changed since it was read; it is read anew as often as this. */
const pollsMax = 3

/**
 * Ends what users pay before their accounts are deleted. What is stored here may be older than what the provider
 * knows: so every purchase is read from the provider, whatever its status is here.
 */
export function createEndPurchases({ collections, provider }: EndPurchasesDeps) {
  const purchases = purchaseStore(collections)
  return {
    /**
     * Cancels subscriptions and closes open checkouts. Returns how many subscriptions were cancelled, this time and
     * before. Throws `unavailable` while the provider is unreachable or refuses, or while there are no keys for it, so
     * that the deletion is retried. Safe to repeat.
     */
    async endFor(userIds: string[]): Promise<number> {
      for (;;) {
        const purchase = await purchases.findUnended(userIds)
        if (purchase === null) return purchases.countCancelled(userIds)
        if (provider === undefined) throw withoutKeys()
        const stripe = await provider.stripe()
        await ask(() => end(stripe, purchase))
        await purchases.change(purchase, { closed_at: new Date() })
      }
    },
  }

  async function end(stripe: Stripe, purchase: PurchaseRecord): Promise<void> {
    for (let polls = 1; polls <= pollsMax; polls++) {
      const session = await unlessMissing(() => stripe.checkout.sessions.retrieve(purchase._id))
      if (session?.status === 'open' && !(await isTaken(() => stripe.checkout.sessions.expire(purchase._id)))) continue
      const subscription = session?.subscription ?? purchase.subscription_id
      if (!subscription || (await cancel(stripe, purchase, idOf(subscription)))) return
    }
    throw refusedBy(purchase)
  }

  /** False if the provider refuses: then the subscription has changed. */
  async function cancel(stripe: Stripe, purchase: PurchaseRecord, subscriptionId: string): Promise<boolean> {
    const subscription = await unlessMissing(() => stripe.subscriptions.retrieve(subscriptionId))
    if (subscription === undefined || isOver(subscription.status)) return true
    // Noted before, so that it is counted if this process dies after the cancellation.
    await purchases.change(purchase, { subscription_id: subscriptionId, cancelled: true })
    return isTaken(() => stripe.subscriptions.cancel(subscriptionId))
  }
}

async function isTaken(change: () => Promise<unknown>): Promise<boolean> {
  try {
    await change()
    return true
  } catch (error) {
    if (isRefused(error)) return false
    throw error
  }
}

/** Undefined for what the provider does not know. */
async function unlessMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const refusedBy = ({ _id }: PurchaseRecord) =>
  new AppError('unavailable', `The payment provider refuses to end the purchase ${_id}. It is tried again.`)

const withoutKeys = () =>
  new AppError(
    'unavailable',
    'This account may have a subscription, and this process has no keys of the payment provider to cancel it: set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET.',
  )
