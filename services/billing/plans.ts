import { LRUCache } from 'lru-cache'
import type { Stripe } from 'stripe'
import { type PaymentProvider, ask } from './provider.ts'

export interface Plan {
  price_id: string
  name: string
  /** Threads that a user with this plan may have. */
  thread_max: number
  /** Schedules that a user with this plan may have, if the price says so. */
  schedule_max?: number
  source_max?: number
  /** In the smallest unit of the currency. */
  amount: number
  currency: string
  /** `one_time`, or how often it is paid: `day`, `week`, `month` or `year`. */
  interval: string
  interval_count: number
}

/** How long the list is cached, because the provider limits requests and prices change rarely. */
const cachedMs = 60_000
const plansMax = 200

/**
 * What can be bought: the active prices of the payment provider whose metadata names a `thread_max`. Plans are
 * stored only at the provider.
 */
export function createPlans(provider: PaymentProvider | undefined) {
  const lists = new LRUCache<'all', Plan[]>({
    max: 1,
    ttl: cachedMs,
    fetchMethod: async () => (provider === undefined ? [] : ask(() => read(provider))),
  })
  return {
    /** The cheapest first. Empty without a payment provider. */
    list: () => lists.forceFetch('all'),
  }
}

async function read(provider: PaymentProvider): Promise<Plan[]> {
  const stripe = await provider.stripe()
  const prices = await stripe.prices
    .list({ active: true, limit: 100, expand: ['data.product'] })
    .autoPagingToArray({ limit: plansMax })
  return prices
    .map(planOf)
    .filter((plan) => plan !== undefined)
    .toSorted((a, b) => a.amount - b.amount || a.thread_max - b.thread_max)
}

function planOf(price: Stripe.Price): Plan | undefined {
  const threadMax = threadMaxOf(price)
  const scheduleMax = scheduleMaxOf(price)
  const sourceMax = sourceMaxOf(price)
  if (threadMax === undefined || price.unit_amount === null || price.billing_scheme !== 'per_unit') return undefined
  const { product, recurring, nickname } = price
  const isForSale = typeof product === 'object' && !('deleted' in product) && product.active
  if (!isForSale) return undefined
  return {
    price_id: price.id,
    name: nickname ?? product.name,
    thread_max: threadMax,
    ...(scheduleMax === undefined ? {} : { schedule_max: scheduleMax }),
    ...(sourceMax === undefined ? {} : { source_max: sourceMax }),
    amount: price.unit_amount,
    currency: price.currency,
    interval: recurring?.interval ?? 'one_time',
    interval_count: recurring?.interval_count ?? 1,
  }
}

/** From a price's metadata, if it is a valid quota. */
export function threadMaxOf(price: Pick<Stripe.Price, 'metadata'>): number | undefined {
  return numberOf(price, 'thread_max')
}

export function scheduleMaxOf(price: Pick<Stripe.Price, 'metadata'>): number | undefined {
  return numberOf(price, 'schedule_max')
}

/** Sources of the web. */
export function sourceMaxOf(price: Pick<Stripe.Price, 'metadata'>): number | undefined {
  return numberOf(price, 'source_max')
}

function numberOf(price: Pick<Stripe.Price, 'metadata'>, member: string): number | undefined {
  const text = price.metadata[member] ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
