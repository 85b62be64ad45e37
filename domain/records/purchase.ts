import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/**
 * `open`: the checkout is not paid yet. `active`: paid, and it allows its threads. `ended`: refunded, or the
 * subscription is over. `expired`: the checkout was never paid.
 */
export const purchaseStatuses = ['open', 'active', 'ended', 'expired'] as const

/** A plan that a user opened a checkout for. Its id is that of the checkout session at the payment provider. */
const Purchase = Type.Object({
  _id: Type.String({ minLength: 1 }),
  user_id: StoredId,
  /** Id of the request that opened it, so that a repeated request finds it. */
  request_id: Type.String({ minLength: 1 }),
  price_id: Type.String({ minLength: 1 }),
  /** Threads that the plan allows. */
  thread_max: Type.Number(),
  /** Schedules that the plan allows, if it allows more than the settings. */
  schedule_max: Type.Optional(Type.Number()),
  /** Sources of the web. */
  source_max: Type.Optional(Type.Number()),
  status: Type.Enum(purchaseStatuses),
  /** The user has paid, and the payment takes days to arrive. */
  paying: Type.Optional(Type.Boolean()),
  /** The page where the user pays; absent once nothing is left to pay. */
  url: Type.Optional(Type.String()),
  customer_id: Type.Optional(Type.String()),
  subscription_id: Type.Optional(Type.String()),
  payment_intent_id: Type.Optional(Type.String()),
  /** Fencing token: each look-up at the payment provider takes the next number. */
  looks: Type.Number(),
  /**
   * The number of the look-up whose result is stored; an older one is not stored after it. So events that arrive out of
   * order cannot restore an older state.
   */
  stored_look: Type.Optional(Type.Number()),
  /** When the deletion of the account ended it at the provider. From then on, nothing is paid for it. */
  closed_at: Type.Optional(StoredTime),
  /** The deletion of the account has cancelled its subscription. */
  cancelled: Type.Optional(Type.Boolean()),
  created_at: StoredTime,
  updated_at: StoredTime,
})

export const purchaseRecord = declareRecord({
  model: 'Purchase',
  collection: 'purchases',
  schema: Purchase,
  owners: [],
  indexes: [
    [{ user_id: 1 }],
    [{ subscription_id: 1 }, { sparse: true }],
    [{ payment_intent_id: 1 }, { sparse: true }],
    [{ customer_id: 1 }, { sparse: true }],
  ],
  archive: undefined,
})
export type PurchaseRecord = RecordOf<typeof purchaseRecord>

/** An event of the payment provider that was handled. Kept for longer than the provider repeats it. */
const BillingEvent = Type.Object({
  _id: Type.String({ minLength: 1 }),
  type: Type.String({ minLength: 1 }),
  remove_at: StoredTime,
})

export const billingEventRecord = declareRecord({
  model: 'BillingEvent',
  collection: 'billing_events',
  schema: BillingEvent,
  owners: [],
  indexes: [[{ remove_at: 1 }, { expireAfterSeconds: 0 }]],
  archive: undefined,
})
