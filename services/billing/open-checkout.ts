import type { Stripe } from 'stripe'
import { AppError } from '../../domain/errors.ts'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { lockUser } from '../parents.ts'
import { purchaseStore } from '../stores/purchases.ts'
import type { RunInTransaction } from '../transactions.ts'
import { covers } from './covers.ts'
import type { Plan, createPlans } from './plans.ts'
import { type PaymentProvider, ask, isDeclined, isRefused } from './provider.ts'
import type { Purchases } from './purchases.ts'

interface OpenCheckoutDeps {
  collections: Pick<Collections, 'users' | 'purchases'>
  transaction: RunInTransaction
  settings: { frontendUrl: string }
  plans: ReturnType<typeof createPlans>
  purchases: Purchases
  requireProvider(): PaymentProvider
}

/**
 * Opens a checkout for a plan. What the user has bought is read from the provider first: a subscription to a smaller plan
 * is changed to the new one instead, and other open checkouts are closed, so that nobody pays twice. Throws `bad_request`
 * for an unknown plan, `conflict` for a plan that would allow no more and while a payment is under way.
 */
export function createOpenCheckout(deps: OpenCheckoutDeps) {
  const { collections, transaction, settings, plans, purchases, requireProvider } = deps

  return async (user: UserRecord, priceId: string, requestId: string): Promise<PurchaseRecord> => {
    const stripe = await requireProvider().stripe()
    const plan = (await plans.list()).find((candidate) => candidate.price_id === priceId)
    if (plan === undefined) throw unknownPlan()
    const earlier = await ask(() => purchases.refreshAll(stripe, user._id))
    if (earlier.some(({ paying }) => paying)) throw underWay()
    const active = earlier.filter(({ status }) => status === 'active')
    if (active.some((purchase) => covers(purchase, plan)))
      throw new AppError('conflict', 'You already have a plan that allows as much.')
    const smaller = active.find(
      (purchase) => purchase.subscription_id !== undefined && covers(plan, purchase) && !isOneTime(plan),
    )
    if (smaller !== undefined) return ask(() => change(deps, stripe, smaller, plan, requestId))
    const purchase = await create(stripe, user, plan, { requestId, earlier })
    await ask(() => closeOlder(deps, stripe, purchase))
    return purchase
  }

  async function create(
    stripe: Stripe,
    user: UserRecord,
    plan: Plan,
    { requestId, earlier }: { requestId: string; earlier: PurchaseRecord[] },
  ): Promise<PurchaseRecord> {
    const customer = earlier.find((purchase) => purchase.customer_id !== undefined)?.customer_id
    const references = { user_id: user._id, request_id: requestId }
    const mode = isOneTime(plan) ? 'payment' : 'subscription'
    const session = await ask(() =>
      stripe.checkout.sessions.create(
        {
          mode,
          line_items: [{ price: plan.price_id, quantity: 1 }],
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
      price_id: plan.price_id,
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
      await lockUser(collections, user._id, session_)
      await purchaseStore(collections).add(purchase, session_)
    })
    return purchase
  }
}

/** The provider charges the difference at once. Nothing is changed if that fails. */
async function change(
  { collections, purchases }: Pick<OpenCheckoutDeps, 'collections' | 'purchases'>,
  stripe: Stripe,
  purchase: PurchaseRecord,
  plan: Plan,
  requestId: string,
): Promise<PurchaseRecord> {
  const { subscription_id: id = '' } = purchase
  const { items } = await stripe.subscriptions.retrieve(id)
  try {
    await stripe.subscriptions.update(
      id,
      {
        items: [{ ...(items.data[0] === undefined ? {} : { id: items.data[0].id }), price: plan.price_id }],
        cancel_at_period_end: false,
        proration_behavior: 'always_invoice',
        payment_behavior: 'error_if_incomplete',
      },
      { idempotencyKey: requestId },
    )
  } catch (error) {
    if (isDeclined(error))
      throw new AppError('conflict', 'The payment failed, and your plan is as before. Change how you pay first.')
    throw isRefused(error) ? unknownPlan(error) : error
  }
  await purchaseStore(collections).change(purchase, { price_id: plan.price_id, request_id: requestId })
  const changed = await purchases.refresh(stripe, purchase)
  return changed ?? { ...purchase, price_id: plan.price_id }
}

/** Of several that are opened at once, each closes those before it, so that one stays. */
async function closeOlder(
  { collections, purchases }: Pick<OpenCheckoutDeps, 'collections' | 'purchases'>,
  stripe: Stripe,
  newest: PurchaseRecord,
): Promise<void> {
  const open = await purchaseStore(collections).listOpenUntil(newest.user_id, newest.created_at)
  for (const purchase of open) {
    const isNewer = purchase.created_at.getTime() === newest.created_at.getTime() && purchase._id >= newest._id
    if (isNewer) continue
    // The provider refuses if it was paid at this moment: then the new one is closed.
    const isClosed = await stripe.checkout.sessions.expire(purchase._id).then(
      () => true,
      (error: unknown) => {
        if (!isRefused(error)) throw error
        return false
      },
    )
    const now = await purchases.refresh(stripe, purchase)
    if (isClosed || !(now?.status === 'active' || now?.paying)) continue
    await stripe.checkout.sessions.expire(newest._id)
    await purchases.refresh(stripe, newest)
    throw underWay()
  }
}

const isOneTime = ({ interval }: Plan) => interval === 'one_time'

const underWay = () =>
  new AppError('conflict', 'A payment of yours is under way. Wait until it has arrived or failed.', {
    retryAfterSeconds: 60,
  })

const unknownPlan = (cause?: unknown) =>
  new AppError('bad_request', 'There is no such plan: price_id must be one that GET /price/ lists.', { cause })

const emailOf = ({ email }: UserRecord) => (email === undefined ? {} : { customer_email: email })

/** The provider replaces this placeholder by the session's id. */
const pageOf = (frontendUrl: string, outcome: string) =>
  `${frontendUrl}/usage?checkout=${outcome}&session_id={CHECKOUT_SESSION_ID}`
