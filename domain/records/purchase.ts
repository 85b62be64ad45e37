export const purchaseStatuses = ['open', 'active', 'ended', 'expired'] as const
/**
 * `open`: the checkout is not paid yet. `active`: paid, and it allows its threads. `ended`: refunded, or the
 * subscription is over. `expired`: the checkout was never paid.
 */
export type PurchaseStatus = (typeof purchaseStatuses)[number]

/** A plan that a user opened a checkout for. Its id is that of the checkout session at the payment provider. */
export interface PurchaseRecord {
  _id: string
  user_id: string
  /** Id of the request that opened it, so that a repeated request finds it. */
  request_id: string
  price_id: string
  /** Threads that the plan allows. */
  thread_max: number
  /** Schedules that the plan allows, if it allows more than the settings. */
  schedule_max?: number
  /** Sources of the web. */
  source_max?: number
  status: PurchaseStatus
  /** The user has paid, and the payment takes days to arrive. */
  paying?: boolean
  /** The page where the user pays; absent once nothing is left to pay. */
  url?: string
  customer_id?: string
  subscription_id?: string
  payment_intent_id?: string
  /** Fencing token: each look-up at the payment provider takes the next number. */
  looks: number
  /**
   * The number of the look-up whose result is stored; an older one is not stored after it. So events that arrive out of
   * order cannot restore an older state.
   */
  stored_look?: number
  /** When the deletion of the account ended it at the provider. From then on, nothing is paid for it. */
  closed_at?: Date
  /** The deletion of the account has cancelled its subscription. */
  cancelled?: boolean
  created_at: Date
  updated_at: Date
}

/** An event of the payment provider that was handled. Kept for longer than the provider repeats it. */
export interface BillingEventRecord {
  _id: string
  type: string
  remove_at: Date
}
