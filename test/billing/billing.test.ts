import Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { buildTimeoutMs, startPaymentProvider, type TestPaymentProvider } from '../support/payment-provider.ts'
import { type TestService, startService } from '../support/service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const webhookSecret = 'whsec_of_the_test'
const month = { interval: 'month', interval_count: 1 }

describe('billing', () => {
  let provider: TestPaymentProvider
  let service: TestService
  beforeAll(async () => {
    provider = await startPaymentProvider([
      { id: 'price_large', metadata: { thread_max: '5000' }, unit_amount: 9900, recurring: month },
      { id: 'price_small', metadata: { thread_max: '1000' }, unit_amount: 1900, recurring: month },
      { id: 'price_once', metadata: { thread_max: '2000' }, unit_amount: 4900, recurring: null },
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

  const quotaOf = async (user: TestUser) => (await user.get('/auth/thread-info')).thread_max
  const open = async (user: TestUser, priceId: string) =>
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

  async function pay(user: TestUser, priceId: string) {
    const id = await open(user, priceId)
    provider.checkout(id).session['status'] = 'complete'
    expect((await tell('checkout.session.completed', { id })).status).toBe(200)
    return id
  }

  it('lists active prices with a quota as plans, cheapest first', async () => {
    const user = await insertUser(service)
    expect(await user.get('/price/')).toEqual([
      expect.objectContaining({
        price_id: 'price_small',
        thread_max: 1000,
        amount: 1900,
        currency: 'usd',
        interval: 'month',
      }),
      expect.objectContaining({ price_id: 'price_once', thread_max: 2000, interval: 'one_time', interval_count: 1 }),
      expect.objectContaining({ price_id: 'price_large', thread_max: 5000 }),
    ])
    expect((await apiClient(service.url).call('GET', '/price/')).status).toBe(401)
    expect((await apiClient(service.url).call('POST', '/checkout/', { price_id: 'price_small' })).status).toBe(401)
  })

  it('opens a checkout, and raises the quota when it is paid; only its user sees it', async () => {
    const [user, other] = [await insertUser(service), await insertUser(service)]
    const opened = await user.post('/checkout/', { price_id: 'price_small' })
    expect(opened).toMatchObject({ price_id: 'price_small', thread_max: 1000, status: 'open' })
    expect(opened.url).toContain(opened.session_id)
    const { params } = provider.checkout(opened.session_id)
    expect(params.get('client_reference_id')).toBe(user.userId)
    expect(params.get('customer_email')).toBe(user.email)
    expect(await quotaOf(user)).toBe(100)

    provider.checkout(opened.session_id).session['status'] = 'complete'
    await tell('checkout.session.completed', { id: opened.session_id })
    expect(await quotaOf(user)).toBe(1000)
    expect(await user.get(`/checkout/${opened.session_id}`)).toMatchObject({ status: 'active', url: null })
    await other.get(`/checkout/${opened.session_id}`, 404)
    expect(await quotaOf(other)).toBe(100)
  })

  it('raises the quota when the user returns before the event arrives', async () => {
    const user = await insertUser(service)
    const id = await open(user, 'price_once')
    provider.checkout(id).session['status'] = 'complete'
    expect(await user.get(`/checkout/${id}`)).toMatchObject({ status: 'active' })
    expect(await quotaOf(user)).toBe(2000)
  })

  it('refuses unknown plans and plans that do not raise the quota', async () => {
    const user = await insertUser(service)
    await user.post('/checkout/', { price_id: 'price_of_shirts' }, 400)
    await user.post('/checkout/', {}, 422)
    await pay(user, 'price_once')
    await user.post('/checkout/', { price_id: 'price_small' }, 409)
    await user.post('/checkout/', { price_id: 'price_large' })
  })

  it('opens one checkout for a request that is repeated with its Idempotency-Key', async () => {
    const user = await insertUser(service)
    const ask = () => user.call('POST', '/checkout/', { price_id: 'price_small' }, { 'idempotency-key': 'once' })
    const [first, second] = [await ask(), await ask()]
    expect(second.body).toEqual(first.body)
    expect(await service.collections.purchases.countDocuments({ user_id: user.userId })).toBe(1)
  })

  it('refuses events without a valid, recent signature of the body', async () => {
    const user = await insertUser(service)
    const id = await open(user, 'price_small')
    provider.checkout(id).session['status'] = 'complete'
    const anybody = apiClient(service.url)
    expect((await anybody.call('POST', '/checkout/webhook', { id: 'evt_1', type: 'x' })).status).toBe(400)
    expect((await tell('checkout.session.completed', { id }, { secret: 'another' })).status).toBe(400)
    expect((await tell('checkout.session.completed', { id }, { at: Date.now() - 3_600_000 })).status).toBe(400)
    const payload = JSON.stringify({
      id: 'evt_2',
      object: 'event',
      type: 'checkout.session.completed',
      data: { object: { id } },
    })
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret })
    const changed = await anybody.call('POST', '/checkout/webhook', `${payload} `, { 'stripe-signature': signature })
    expect(changed.status).toBe(400)
    const deep = await anybody.call('POST', '/checkout/webhook', '['.repeat(100_000), { 'stripe-signature': signature })
    expect(deep.body.detail).toMatchObject([{ loc: ['body'], type: 'too_deep' }])
    expect(await quotaOf(user)).toBe(100)
  })

  it('handles an event once, even if it arrives repeatedly and simultaneously', async () => {
    const user = await insertUser(service)
    const id = await open(user, 'price_small')
    provider.checkout(id).session['status'] = 'complete'
    const event = { id: `evt_${newId()}` }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => tell('checkout.session.completed', { id }, event)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await quotaOf(user)).toBe(1000)
    const looks = provider.calls.length
    expect((await tell('checkout.session.completed', { id }, event)).status).toBe(200)
    expect(provider.calls.length).toBe(looks)
    expect(await service.collections.billingEvents.countDocuments({ _id: event.id })).toBe(1)
  })

  it('handles the repetition of an event that failed', async () => {
    const user = await insertUser(service)
    const id = await open(user, 'price_small')
    provider.checkout(id).session['status'] = 'complete'
    const event = { id: `evt_${newId()}` }
    provider.away(true)
    expect((await tell('checkout.session.completed', { id }, event)).status).toBe(503)
    provider.away(false)
    expect(await quotaOf(user)).toBe(100)
    expect((await tell('checkout.session.completed', { id }, event)).status).toBe(200)
    expect(await quotaOf(user)).toBe(1000)
  })

  it('lowers the quota again when a subscription ends, and deletes nothing', async () => {
    const user = await insertUser(service, { threadMax: 1 })
    const id = await pay(user, 'price_small')
    const threads = await Promise.all([1, 2, 3].map(() => user.post('/threads/', {})))
    provider.checkout(id).subscription['status'] = 'canceled'
    await tell('customer.subscription.deleted', { id: `sub_${id}` })
    expect(await user.get('/auth/thread-info')).toEqual({ thread_counter: 3, thread_max: 1 })
    for (const { thread_id: threadId } of threads) await user.get(`/threads/${threadId}`)
    await user.post('/threads/', {}, 403)
    expect(await user.get(`/checkout/${id}`)).toMatchObject({ status: 'ended' })
  })

  it('lowers the quota after a full refund of a payment and of a subscription, not after a partial one', async () => {
    for (const plan of ['price_once', 'price_small']) {
      const user = await insertUser(service)
      const id = await pay(user, plan)
      const charge = {
        id: `ch_${id}`,
        payment_intent: `pi_${id}`,
        customer: plan === 'price_once' ? null : `cus_${id}`,
      }
      await tell('charge.refunded', { ...charge, refunded: false })
      expect(await quotaOf(user), plan).toBeGreaterThan(100)
      provider.checkout(id).charge['refunded'] = true
      await tell('charge.refunded', { ...charge, refunded: true })
      expect(await quotaOf(user), plan).toBe(100)
    }
  })

  it('computes the right quota when events arrive out of order', async () => {
    const user = await insertUser(service)
    const id = await open(user, 'price_small')
    const { session, subscription } = provider.checkout(id)
    session['status'] = 'complete'
    subscription['status'] = 'canceled'
    await tell('customer.subscription.deleted', { id: `sub_${id}` })
    await tell('checkout.session.completed', { id })
    await tell('customer.subscription.created', { id: `sub_${id}`, status: 'active' })
    expect(await quotaOf(user)).toBe(100)
  })

  it('keeps the newest look-up at the provider when an older one is answered late', async () => {
    const user = await insertUser(service)
    const id = await pay(user, 'price_small')
    const late = Promise.withResolvers<void>()
    const before = provider.calls.length
    provider.hold(late.promise)
    const slow = tell('customer.subscription.updated', { id: `sub_${id}` })
    await expect.poll(() => provider.calls.length).toBeGreaterThan(before)
    provider.hold(undefined)
    provider.checkout(id).subscription['status'] = 'canceled'
    await tell('customer.subscription.deleted', { id: `sub_${id}` })
    late.resolve()
    await slow
    expect(await quotaOf(user)).toBe(100)
  })

  it('follows a change of the plan, and uses the largest of several plans', async () => {
    const user = await insertUser(service)
    const small = await pay(user, 'price_small')
    const large = await pay(user, 'price_large')
    expect(await quotaOf(user)).toBe(5000)
    provider.checkout(large).subscription['items'] = { data: [{ price: { metadata: { thread_max: '3000' } } }] }
    await tell('customer.subscription.updated', { id: `sub_${large}` })
    expect(await quotaOf(user)).toBe(3000)
    provider.checkout(large).subscription['status'] = 'unpaid'
    await tell('customer.subscription.updated', { id: `sub_${large}` })
    expect(await quotaOf(user)).toBe(1000)
    provider.checkout(small).subscription['status'] = 'past_due'
    await tell('customer.subscription.updated', { id: `sub_${small}` })
    expect(await quotaOf(user)).toBe(1000)
  })

  it('returns 503 while the provider is unreachable, and leaves no purchase', async () => {
    const user = await insertUser(service)
    provider.away(true)
    const answer = await user.call('POST', '/checkout/', { price_id: 'price_small' })
    provider.away(false)
    expect(answer.status).toBe(503)
    expect(await service.collections.purchases.countDocuments({ user_id: user.userId })).toBe(0)
  })

  it('cancels the subscription of an account that is deleted', async () => {
    const user = await insertUser(service)
    const paid = await pay(user, 'price_small')
    const unpaid = await open(user, 'price_large')
    await user.delete('/auth/delete-user', { email_confirmation: user.email })
    expect(provider.calls).toContain(`DELETE /v1/subscriptions/sub_${paid}`)
    expect(provider.calls).toContain(`POST /v1/checkout/sessions/${unpaid}/expire`)
    expect(await service.collections.purchases.countDocuments({ user_id: user.userId })).toBe(0)
    expect((await tell('customer.subscription.deleted', { id: `sub_${paid}` })).status).toBe(200)
  })
})

describe('billing without keys', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.close())

  it('lists no plans, and returns 503 for checkouts and events', async () => {
    const user = await insertUser(service)
    expect(await user.get('/price/')).toEqual([])
    for (const [method, path, body] of [
      ['POST', '/checkout/', { price_id: 'price_1' }],
      ['GET', '/checkout/cs_test_1', undefined],
      ['POST', '/checkout/webhook', { id: 'evt_1', type: 'x' }],
    ] as const) {
      const answer = await user.call(method, path, body)
      expect(answer.status, path).toBe(503)
      expect(answer.body.detail).toContain('not configured')
    }
  })
})
