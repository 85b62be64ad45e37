import Type, { type Static } from 'typebox'
import { type PurchaseRecord, purchaseStatuses } from '../../../domain/records/purchase.ts'
import { Timestamp, nullable } from '../schemas.ts'

/** Ids of the payment provider have at most 255 characters. */
const providerId = Type.String({ minLength: 1, maxLength: 255 })

export const Plan = Type.Object(
  {
    price_id: Type.String(),
    name: Type.String(),
    thread_max: Type.Integer({ description: 'Threads that the plan allows.' }),
    schedule_max: Type.Optional(Type.Integer({ description: 'Schedules that the plan allows.' })),
    source_max: Type.Optional(Type.Integer({ description: 'Sources of the web that the plan allows.' })),
    amount: Type.Integer({ description: 'In the smallest unit of the currency, such as cents.' }),
    currency: Type.String({ description: 'ISO 4217 code in lower case.' }),
    interval: Type.String({ description: '`one_time`, or how often it is paid: `day`, `week`, `month` or `year`.' }),
    interval_count: Type.Integer({ description: 'Number of intervals between two payments.' }),
  },
  { title: 'Plan', about: 'Something to buy: it raises the thread quota.' },
)

export const CheckoutRequest = Type.Object(
  { price_id: providerId },
  { title: 'CheckoutRequest', about: 'The plan to buy.' },
)

export const CheckoutStatus = Type.Enum([...purchaseStatuses], {
  title: 'CheckoutStatus',
  about: 'Whether a checkout is paid, and whether its plan is active.',
})

export const Checkout = Type.Object(
  {
    session_id: Type.String(),
    price_id: Type.String(),
    thread_max: Type.Integer(),
    status: CheckoutStatus,
    url: nullable(Type.String({ description: 'Where the user pays, while the checkout is open.' })),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Checkout', about: 'A plan that the caller opened a checkout for.' },
)

export const CheckoutPath = Type.Object({
  session_id: Type.String({ pattern: '^[A-Za-z0-9_]+$', minLength: 1, maxLength: 255 }),
})

export const BillingEvent = Type.Object(
  { id: providerId, type: providerId },
  { title: 'BillingEvent', about: 'An event of the payment provider, in its own shape.' },
)

export const BillingEventResponse = Type.Object(
  { received: Type.Boolean() },
  { title: 'BillingEventResponse', about: 'The event is handled.' },
)

export function toCheckout(purchase: PurchaseRecord): Static<typeof Checkout> {
  return {
    session_id: purchase._id,
    price_id: purchase.price_id,
    thread_max: purchase.thread_max,
    status: purchase.status,
    url: purchase.url ?? null,
    created_at: purchase.created_at.toISOString(),
    updated_at: purchase.updated_at.toISOString(),
  }
}
