import { AppError } from '../../domain/errors.ts'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { holdUser } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { createEndPurchases } from './end-purchases.ts'
import { createPlans } from './plans.ts'
import { createPurchases } from './purchases.ts'
import { type PaymentProvider, ask, isRefused } from './provider.ts'
import { createWebhook } from './webhook.ts'

export interface BillingDeps {
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

    /**
     * Opens a checkout. Throws `bad_request` for an unknown plan, `conflict` for a plan that would not raise the
     * quota.
     */
    async open(user: UserRecord, priceId: string, requestId: string): Promise<PurchaseRecord> {
      const stripe = await requireProvider().stripe()
      const plan = (await plans.list()).find((candidate) => candidate.price_id === priceId)
      if (plan === undefined) throw unknownPlan()
      const earlier = await purchases.of(user._id)
      const best = Math.max(0, ...earlier.filter(({ status }) => status === 'active').map((one) => one.thread_max))
      if (best >= plan.thread_max)
        throw new AppError('conflict', 'You already have a plan that allows as many threads.')
      const customer = earlier.find((purchase) => purchase.customer_id !== undefined)?.customer_id
      const references = { user_id: user._id, request_id: requestId }
      const mode = plan.interval === 'one_time' ? 'payment' : 'subscription'
      const session = await ask(() =>
        stripe.checkout.sessions.create(
          {
            mode,
            line_items: [{ price: priceId, quantity: 1 }],
            client_reference_id: user._id,
            metadata: references,
            ...(mode === 'subscription'
              ? { subscription_data: { metadata: references } }
              : { payment_intent_data: { metadata: references } }),
            ...(customer === undefined ? emailOf(user) : { customer }),
            success_url: pageOf(settings.frontendUrl, 'paid'),
            cancel_url: pageOf(settings.frontendUrl, 'cancelled'),
          },
          { idempotencyKey: requestId },
        ),
      ).catch((error: unknown) => {
        if (error instanceof AppError && isRefused(error.cause)) throw unknownPlan(error.cause)
        throw error
      })
      const now = new Date()
      const purchase: PurchaseRecord = {
        _id: session.id,
        user_id: user._id,
        request_id: requestId,
        price_id: priceId,
        thread_max: plan.thread_max,
        ...(plan.schedule_max === undefined ? {} : { schedule_max: plan.schedule_max }),
        ...(plan.source_max === undefined ? {} : { source_max: plan.source_max }),
        status: 'open',
        ...(session.url === null ? {} : { url: session.url }),
        looks: 0,
        created_at: now,
        updated_at: now,
      }
      await transaction(async (session_) => {
        await holdUser(collections, user._id, session_)
        await collections.purchases.create([purchase], { session: session_ })
      })
      return purchase
    },

    opened: (userId: string, requestId: string): Promise<PurchaseRecord | null> =>
      collections.purchases.findOne({ user_id: userId, request_id: requestId }).lean<PurchaseRecord>(),

    /**
     * A purchase of the user, `not_found` for any other. An open one is read from the provider, because the user
     * may return from the payment page before the provider's event arrives.
     */
    async read(userId: string, sessionId: string): Promise<PurchaseRecord> {
      const provider = requireProvider()
      const purchase = await collections.purchases.findOne({ _id: sessionId, user_id: userId }).lean<PurchaseRecord>()
      if (purchase === null) throw new AppError('not_found', 'There is no such checkout.')
      if (purchase.status !== 'open') return purchase
      const stripe = await provider.stripe()
      return (await ask(() => purchases.refresh(stripe, purchase))) ?? purchase
    },

    endFor: createEndPurchases(deps).endFor,
  }
}

const unknownPlan = (cause?: unknown) =>
  new AppError('bad_request', 'There is no such plan: price_id must be one that GET /price/ lists.', { cause })

const emailOf = ({ email }: UserRecord) => (email === undefined ? {} : { customer_email: email })

/** The provider replaces this placeholder by the session's id. */
const pageOf = (frontendUrl: string, outcome: string) =>
  `${frontendUrl}/usage?checkout=${outcome}&session_id={CHECKOUT_SESSION_ID}`
