import { AppError } from '../../domain/errors.ts'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import type { Collections } from '../collections.ts'
import { purchaseStore } from '../stores/purchases.ts'
import type { RunInTransaction } from '../transactions.ts'
import { createEndPurchases } from './end-purchases.ts'
import { createOpenCheckout } from './open-checkout.ts'
import { createPlans } from './plans.ts'
import { type PaymentProvider, ask } from './provider.ts'
import { createPurchases } from './purchases.ts'
import { createWebhook } from './webhook.ts'

interface BillingDeps {
  collections: Pick<Collections, 'users' | 'purchases' | 'schedules' | 'billingEvents'>
  transaction: RunInTransaction
  /** Undefined without its keys. */
  provider: PaymentProvider | undefined
  settings: { frontendUrl: string; scheduleMaxDefault: number }
}

export type Billing = ReturnType<typeof createBilling>

/** Plans that raise a user's thread quota, bought at a payment provider. */
export function createBilling(deps: BillingDeps) {
  const { collections, transaction, settings } = deps
  const store = purchaseStore(collections)
  const plans = createPlans(deps.provider)
  const purchases = createPurchases({ collections, transaction, settings })

  function requireProvider(): PaymentProvider {
    if (deps.provider === undefined)
      throw new AppError(
        'unavailable',
        'Billing is not configured on this server: it has no keys of a payment provider.',
      )
    return deps.provider
  }

  return {
    plans,
    webhook: createWebhook({ collections, purchases, requireProvider }),

    /** See `createOpenCheckout`. */
    open: createOpenCheckout({ collections, transaction, settings, plans, purchases, requireProvider }),

    opened: store.findByRequest,

    /**
     * A purchase of the user, `not_found` for any other. An open one is read from the provider, because the user
     * may return from the payment page before the provider's event arrives.
     */
    async read(userId: string, sessionId: string): Promise<PurchaseRecord> {
      const provider = requireProvider()
      const purchase = await store.findOwned(userId, sessionId)
      if (purchase === null) throw new AppError('not_found', 'There is no such checkout.')
      if (purchase.status !== 'open') return purchase
      const stripe = await provider.stripe()
      return (await ask(() => purchases.refresh(stripe, purchase))) ?? purchase
    },

    endFor: createEndPurchases(deps).endFor,
  }
}
