import type { Stripe } from 'stripe'
import { AppError } from '../../domain/errors.ts'
import { JsonLimitError, checkForeignJson, refusalOf } from '../../domain/foreign-json.ts'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import type { Collections } from '../collections.ts'
import { billingEventStore, purchaseStore } from '../stores/purchases.ts'
import { isChargeback, subscriptionsOf } from './chargebacks.ts'
import { idOf } from './id-of.ts'
import { type PaymentProvider, ask } from './provider.ts'
import { isOver } from './purchase-state.ts'
import type { Purchases } from './purchases.ts'

interface WebhookDeps {
  collections: Pick<Collections, 'purchases' | 'billingEvents'>
  purchases: Pick<Purchases, 'refresh'>
  requireProvider(): PaymentProvider
}

/** The provider repeats an event for up to three days. */
const rememberedMs = 30 * 86_400_000

/** Handles the events of the payment provider. */
export function createWebhook({ collections, purchases, requireProvider }: WebhookDeps) {
  const events = billingEventStore(collections)
  const stored = purchaseStore(collections)
  return {
    /** The event, when the signature fits the raw body and is not older than five minutes. Throws `bad_request`. */
    async verify(rawBody: Buffer, signature: string | undefined): Promise<Stripe.Event> {
      const { stripe, webhookSecret } = requireProvider()
      const { webhooks } = await stripe()
      try {
        // The route bounds the size. The library parses the body itself.
        checkForeignJson(rawBody.toString('utf8'), { bytes: Infinity })
        return webhooks.constructEvent(rawBody, signature ?? '', webhookSecret)
      } catch (cause) {
        if (cause instanceof JsonLimitError) throw refusalOf(cause, ['body'])
        throw new AppError('bad_request', 'The signature of this event is missing, wrong or too old.', { cause })
      }
    },

    /**
     * Handles an event once. Its purchases are read from the provider, because events arrive in any order and their
     * content may be outdated. The id of an event that failed is not stored, so that its repetition is handled.
     */
    async handle(event: Stripe.Event): Promise<'handled' | 'known'> {
      if (await events.isKnown(event.id)) return 'known'
      const stripe = await requireProvider().stripe()
      const concerned = await ask(() => purchasesOf(stripe, event))
      for (const purchase of concerned) await ask(() => purchases.refresh(stripe, purchase))
      await events.remember({ _id: event.id, type: event.type, remove_at: new Date(Date.now() + rememberedMs) })
      return 'handled'
    },
  }

  /** Events of other products of the same account concern no purchase. */
  async function purchasesOf(stripe: Stripe, event: Stripe.Event): Promise<PurchaseRecord[]> {
    const filter = filterOf(event) ?? (await filterOfDispute(stripe, event))
    return filter === undefined ? [] : stored.listOfAny(filter)
  }

  /** A chargeback also cancels the subscription that was paid, so that nothing is paid for a plan that has ended. */
  async function filterOfDispute(stripe: Stripe, event: Stripe.Event) {
    switch (event.type) {
      case 'charge.dispute.created':
      case 'charge.dispute.updated':
      case 'charge.dispute.closed': {
        const dispute = await stripe.disputes.retrieve(event.data.object.id)
        if (dispute.payment_intent === null) return undefined
        const paid = await stored.listOfAnySubscription(await subscriptionsOf(stripe, dispute))
        for (const purchase of isChargeback(dispute) ? paid : []) await cancelSubscription(stripe, purchase)
        const ids = paid.map(({ _id }) => _id)
        return { $or: [{ payment_intent_id: idOf(dispute.payment_intent) }, { _id: { $in: ids } }] }
      }
      default:
        return undefined
    }
  }
}

async function cancelSubscription(stripe: Stripe, { subscription_id: id = '' }: PurchaseRecord): Promise<void> {
  const { status } = await stripe.subscriptions.retrieve(id)
  if (!isOver(status)) await stripe.subscriptions.cancel(id)
}

function filterOf(event: Stripe.Event) {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.async_payment_failed':
    case 'checkout.session.expired':
      return { _id: event.data.object.id }
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
    case 'customer.subscription.paused':
    case 'customer.subscription.resumed':
      return { subscription_id: event.data.object.id }
    case 'charge.refunded': {
      const { payment_intent: payment, customer } = event.data.object
      // Charges of a subscription are found by its customer.
      const ways = [
        ...(payment === null ? [] : [{ payment_intent_id: idOf(payment) }]),
        ...(customer === null ? [] : [{ customer_id: idOf(customer) }]),
      ]
      return ways.length === 0 ? undefined : { $or: ways }
    }
    default:
      return undefined
  }
}
