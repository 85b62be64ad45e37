import type { Stripe } from 'stripe'
import { idOf } from './id-of.ts'

/** A dispute that has taken the money back, for now or for good. An inquiry (`warning_…`) has not. */
const taken = new Set<Stripe.Dispute.Status>([
  'needs_response',
  'under_review',
  'appeal_needs_response',
  'appeal_under_review',
  'lost',
])

export const isChargeback = ({ status }: Pick<Stripe.Dispute, 'status'>): boolean => taken.has(status)

/** Whether the money of a charge was taken back by its payer's bank, and not returned. */
export async function isChargedBack(stripe: Stripe, { id, disputed }: Stripe.Charge): Promise<boolean> {
  if (!disputed) return false
  const { data } = await stripe.disputes.list({ charge: id, limit: 100 })
  return data.some(isChargeback)
}

/** The subscriptions whose invoices were paid with the payment of a dispute; it may be an older invoice. */
export async function subscriptionsOf(stripe: Stripe, dispute: Stripe.Dispute): Promise<string[]> {
  if (dispute.payment_intent === null) return []
  const payment = { type: 'payment_intent', payment_intent: idOf(dispute.payment_intent) }
  const { data } = await stripe.invoicePayments.list({ payment, limit: 100, expand: ['data.invoice'] })
  return data.flatMap(({ invoice }) => {
    const parent = typeof invoice === 'object' && 'parent' in invoice ? invoice.parent : null
    const subscription = parent?.subscription_details?.subscription
    return subscription ? [idOf(subscription)] : []
  })
}
