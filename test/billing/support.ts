import Stripe from 'stripe'
import { afterAll, beforeAll, expect } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { buildTimeoutMs, startPaymentProvider, type TestPaymentProvider } from '../support/payment-provider.ts'
import { type TestService, startService } from '../support/service.ts'
import type { TestUser } from '../support/users.ts'

const webhookSecret = 'whsec_of_the_test'
const month = { interval: 'month', interval_count: 1 }

/** A service with a payment provider that sells plans. */
export function useBilling() {
  let provider: TestPaymentProvider
  let service: TestService
  beforeAll(async () => {
    provider = await startPaymentProvider([
      { id: 'price_large', metadata: { thread_max: '5000', schedule_max: '25' }, unit_amount: 9900, recurring: month },
      { id: 'price_small', metadata: { thread_max: '1000' }, unit_amount: 1900, recurring: month },
      { id: 'price_once', metadata: { thread_max: '2000' }, unit_amount: 4900, recurring: null },
      {
        id: 'price_schedules',
        metadata: { thread_max: '1000', schedule_max: '50' },
        unit_amount: 2900,
        recurring: month,
      },
      { id: 'price_of_shirts', metadata: {}, unit_amount: 100 },
      { id: 'price_wrong', metadata: { thread_max: 'many' }, unit_amount: 100 },
      { id: 'price_gone', metadata: { thread_max: '7' }, unit_amount: 100, product: { active: false } },
    ])
    service = await startService({
      env: { STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_BASE: provider.url },
    })
  }, buildTimeoutMs)
  afterAll(async () => {
    await service.close()
    await provider.close()
  })

  const open = async (user: TestUser, priceId: string): Promise<string> =>
    (await user.post('/checkout/', { price_id: priceId })).session_id

  /** An event as the provider sends it: signed with the package's own helper. */
  async function tell(
    type: string,
    object: object,
    { id = `evt_${newId()}`, secret = webhookSecret, at = Date.now() } = {},
  ) {
    const payload = JSON.stringify({ id, object: 'event', type, created: Math.floor(at / 1000), data: { object } })
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: Math.floor(at / 1000) })
    return apiClient(service.url).call('POST', '/checkout/webhook', payload, { 'stripe-signature': signature })
  }

  return {
    webhookSecret,
    get service() {
      return service
    },
    get provider() {
      return provider
    },
    quotaOf: async (user: TestUser) => (await user.get('/auth/thread-info')).thread_max,
    open,
    tell,
    async pay(user: TestUser, priceId: string) {
      const id = await open(user, priceId)
      provider.checkout(id).session['status'] = 'complete'
      expect((await tell('checkout.session.completed', { id })).status).toBe(200)
      return id
    },
  }
}
