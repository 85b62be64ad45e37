import type { Stripe } from 'stripe'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import { isChargedBack } from './chargebacks.ts'
import { idOf } from './id-of.ts'
import { scheduleMaxOf, sourceMaxOf, threadMaxOf } from './plans.ts'

/** What the payment provider says about a purchase at this moment. */
type PurchaseState = Pick<PurchaseRecord, 'status' | 'thread_max' | 'paying'> &
  Partial<Pick<PurchaseRecord, 'schedule_max' | 'source_max' | 'customer_id' | 'subscription_id' | 'payment_intent_id'>>

/** While a payment is late, the provider retries it; a subscription that it gives up gets another status. */
const entitled = new Set<Stripe.Subscription.Status>(['active', 'trialing', 'past_due'])

/** Such a subscription never becomes active again. */
export const isOver = (status: Stripe.Subscription.Status): boolean =>
  status === 'canceled' || status === 'incomplete_expired'

/** Reads the checkout session, its subscription and its payment. The content of events is not used. */
export async function readPurchaseState(stripe: Stripe, purchase: PurchaseRecord): Promise<PurchaseState> {
  const session = await stripe.checkout.sessions.retrieve(purchase._id, {
    expand: ['subscription.latest_invoice.payments', 'payment_intent.latest_charge'],
  })
  const { customer, subscription, payment_intent: payment } = session
  const ids = {
    ...(customer === null ? {} : { customer_id: idOf(customer) }),
    ...(subscription === null ? {} : { subscription_id: idOf(subscription) }),
    ...(payment === null ? {} : { payment_intent_id: idOf(payment) }),
  }
  if (session.status !== 'complete') {
    const status = session.status === 'expired' ? ('expired' as const) : ('open' as const)
    return { status, thread_max: purchase.thread_max, paying: false }
  }
  if (subscription !== null && typeof subscription === 'object') {
    const price = subscription.items.data[0]?.price
    const isActive = entitled.has(subscription.status) && !(await isLastInvoicePaidBack(stripe, subscription))
    const threadMax = price === undefined ? undefined : threadMaxOf(price)
    // A price that says nothing about schedules allows what the settings allow.
    const scheduleMax = price === undefined ? purchase.schedule_max : (scheduleMaxOf(price) ?? 0)
    const sourceMax = price === undefined ? purchase.source_max : (sourceMaxOf(price) ?? 0)
    return {
      ...ids,
      status: isActive ? 'active' : 'ended',
      // Its first payment takes days, such as a direct debit.
      paying: subscription.status === 'incomplete',
      thread_max: threadMax ?? purchase.thread_max,
      ...(scheduleMax === undefined ? {} : { schedule_max: scheduleMax }),
      ...(sourceMax === undefined ? {} : { source_max: sourceMax }),
    }
  }
  const isUnpaid = session.payment_status === 'unpaid'
  const isPaidBack = payment !== null && typeof payment === 'object' && (await wasPaidBack(stripe, payment))
  // A payment that takes days, such as a bank transfer, has not arrived yet.
  const status = isPaidBack ? 'ended' : isUnpaid ? 'open' : 'active'
  const paying =
    status === 'open' && !(payment !== null && typeof payment === 'object' && hasFailed.has(payment.status))
  return { ...ids, status, thread_max: purchase.thread_max, paying }
}

/** Such a payment does not arrive by itself. */
const hasFailed = new Set<Stripe.PaymentIntent.Status>(['canceled', 'requires_payment_method'])

async function isLastInvoicePaidBack(stripe: Stripe, { latest_invoice: invoice }: Stripe.Subscription) {
  if (invoice === null || typeof invoice !== 'object') return false
  for (const { payment } of invoice.payments?.data ?? []) {
    if (!payment.payment_intent) continue
    const intent = await stripe.paymentIntents.retrieve(idOf(payment.payment_intent), { expand: ['latest_charge'] })
    if (await wasPaidBack(stripe, intent)) return true
  }
  return false
}

/** Whether a payment was refunded in full, or taken back by a chargeback. */
async function wasPaidBack(stripe: Stripe, { latest_charge: charge }: Stripe.PaymentIntent): Promise<boolean> {
  if (charge === null || typeof charge !== 'object') return false
  return charge.refunded || (await isChargedBack(stripe, charge))
}
