import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { useBilling } from './support.ts'

describe('billing', () => {
  const billing = useBilling()
  const { webhookSecret, quotaOf, open, tell, pay } = billing

  it('lists active prices with a quota as plans, cheapest first', async () => {
    const user = await insertUser(billing.service)
    expect(await user.get('/price/')).toEqual([
      expect.objectContaining({
        price_id: 'price_small',
        thread_max: 1000,
        amount: 1900,
        currency: 'usd',
        interval: 'month',
      }),
      expect.objectContaining({ price_id: 'price_schedules', thread_max: 1000, schedule_max: 50, amount: 2900 }),
      expect.objectContaining({ price_id: 'price_once', thread_max: 2000, interval: 'one_time', interval_count: 1 }),
      expect.objectContaining({ price_id: 'price_large', thread_max: 5000 }),
    ])
    expect((await apiClient(billing.service.url).call('GET', '/price/')).status).toBe(401)
    expect((await apiClient(billing.service.url).call('POST', '/checkout/', { price_id: 'price_small' })).status).toBe(
      401,
    )
  })

  it('opens a checkout, and raises the quota when it is paid; only its user sees it', async () => {
    const [user, other] = [await insertUser(billing.service), await insertUser(billing.service)]
    const opened = await user.post('/checkout/', { price_id: 'price_small' })
    expect(opened).toMatchObject({ price_id: 'price_small', thread_max: 1000, status: 'open' })
    expect(opened.url).toContain(opened.session_id)
    const { params } = billing.provider.checkout(opened.session_id)
    expect(params.get('client_reference_id')).toBe(user.userId)
    expect(params.get('customer_email')).toBe(user.email)
    expect(await quotaOf(user)).toBe(100)

    billing.provider.checkout(opened.session_id).session['status'] = 'complete'
    await tell('checkout.session.completed', { id: opened.session_id })
    expect(await quotaOf(user)).toBe(1000)
    expect(await user.get(`/checkout/${opened.session_id}`)).toMatchObject({ status: 'active', url: null })
    await other.get(`/checkout/${opened.session_id}`, 404)
    expect(await quotaOf(other)).toBe(100)
  })

  it('raises the quota when the user returns before the event arrives', async () => {
    const user = await insertUser(billing.service)
    const id = await open(user, 'price_once')
    billing.provider.checkout(id).session['status'] = 'complete'
    expect(await user.get(`/checkout/${id}`)).toMatchObject({ status: 'active' })
    expect(await quotaOf(user)).toBe(2000)
  })

  it('refuses unknown plans and plans that do not raise the quota', async () => {
    const user = await insertUser(billing.service)
    await user.post('/checkout/', { price_id: 'price_of_shirts' }, 400)
    await user.post('/checkout/', {}, 422)
    await pay(user, 'price_once')
    await user.post('/checkout/', { price_id: 'price_small' }, 409)
    await user.post('/checkout/', { price_id: 'price_large' })
  })

  it('opens one checkout for a request that is repeated with its Idempotency-Key', async () => {
    const user = await insertUser(billing.service)
    const ask = () => user.call('POST', '/checkout/', { price_id: 'price_small' }, { 'idempotency-key': 'once' })
    const [first, second] = [await ask(), await ask()]
    expect(second.body).toEqual(first.body)
    expect(await billing.service.collections.purchases.countDocuments({ user_id: user.userId })).toBe(1)
  })

  it('refuses events without a valid, recent signature of the body', async () => {
    const user = await insertUser(billing.service)
    const id = await open(user, 'price_small')
    billing.provider.checkout(id).session['status'] = 'complete'
    const anybody = apiClient(billing.service.url)
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
    const user = await insertUser(billing.service)
    const id = await open(user, 'price_small')
    billing.provider.checkout(id).session['status'] = 'complete'
    const event = { id: `evt_${newId()}` }
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => tell('checkout.session.completed', { id }, event)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await quotaOf(user)).toBe(1000)
    const looks = billing.provider.calls.length
    expect((await tell('checkout.session.completed', { id }, event)).status).toBe(200)
    expect(billing.provider.calls.length).toBe(looks)
    expect(await billing.service.collections.billingEvents.countDocuments({ _id: event.id })).toBe(1)
  })

  it('handles the repetition of an event that failed', async () => {
    const user = await insertUser(billing.service)
    const id = await open(user, 'price_small')
    billing.provider.checkout(id).session['status'] = 'complete'
    const event = { id: `evt_${newId()}` }
    billing.provider.away(true)
    expect((await tell('checkout.session.completed', { id }, event)).status).toBe(503)
    billing.provider.away(false)
    expect(await quotaOf(user)).toBe(100)
    expect((await tell('checkout.session.completed', { id }, event)).status).toBe(200)
    expect(await quotaOf(user)).toBe(1000)
  })

  it('lowers the quota again when a subscription ends, and deletes nothing', async () => {
    const user = await insertUser(billing.service, { threadMax: 1 })
    const id = await pay(user, 'price_small')
    const threads = await Promise.all([1, 2, 3].map(() => user.post('/threads/', {})))
    billing.provider.checkout(id).subscription['status'] = 'canceled'
    await tell('customer.subscription.deleted', { id: `sub_${id}` })
    expect(await user.get('/auth/thread-info')).toEqual({ thread_counter: 3, thread_max: 1 })
    for (const { thread_id: threadId } of threads) await user.get(`/threads/${threadId}`)
    await user.post('/threads/', {}, 403)
    expect(await user.get(`/checkout/${id}`)).toMatchObject({ status: 'ended' })
  })

  it('lowers the quota after a full refund of a payment and of a subscription, not after a partial one', async () => {
    for (const plan of ['price_once', 'price_small']) {
      const user = await insertUser(billing.service)
      const id = await pay(user, plan)
      const charge = {
        id: `ch_${id}`,
        payment_intent: `pi_${id}`,
        customer: plan === 'price_once' ? null : `cus_${id}`,
      }
      await tell('charge.refunded', { ...charge, refunded: false })
      expect(await quotaOf(user), plan).toBeGreaterThan(100)
      billing.provider.checkout(id).charge['refunded'] = true
      await tell('charge.refunded', { ...charge, refunded: true })
      expect(await quotaOf(user), plan).toBe(100)
    }
  })

  it('computes the right quota when events arrive out of order', async () => {
    const user = await insertUser(billing.service)
    const id = await open(user, 'price_small')
    const { session, subscription } = billing.provider.checkout(id)
    session['status'] = 'complete'
    subscription['status'] = 'canceled'
    await tell('customer.subscription.deleted', { id: `sub_${id}` })
    await tell('checkout.session.completed', { id })
    await tell('customer.subscription.created', { id: `sub_${id}`, status: 'active' })
    expect(await quotaOf(user)).toBe(100)
  })

  it('keeps the newest look-up at the provider when an older one is answered late', async () => {
    const user = await insertUser(billing.service)
    const id = await pay(user, 'price_small')
    const late = Promise.withResolvers<void>()
    const before = billing.provider.calls.length
    billing.provider.hold(late.promise)
    const slow = tell('customer.subscription.updated', { id: `sub_${id}` })
    await expect.poll(() => billing.provider.calls.length).toBeGreaterThan(before)
    billing.provider.hold(undefined)
    billing.provider.checkout(id).subscription['status'] = 'canceled'
    await tell('customer.subscription.deleted', { id: `sub_${id}` })
    late.resolve()
    await slow
    expect(await quotaOf(user)).toBe(100)
  })

  it('follows a change of the plan, and uses the largest of several plans', async () => {
    const user = await insertUser(billing.service)
    const small = await pay(user, 'price_once')
    const large = await pay(user, 'price_large')
    expect(await quotaOf(user)).toBe(5000)
    billing.provider.checkout(large).subscription['items'] = { data: [{ price: { metadata: { thread_max: '3000' } } }] }
    await tell('customer.subscription.updated', { id: `sub_${large}` })
    expect(await quotaOf(user)).toBe(3000)
    billing.provider.checkout(large).subscription['status'] = 'unpaid'
    await tell('customer.subscription.updated', { id: `sub_${large}` })
    expect(await quotaOf(user)).toBe(2000)
    await tell('checkout.session.completed', { id: small })
    expect(await quotaOf(user)).toBe(2000)
  })

  it('changes the subscription when a bigger plan is bought, and sells one that allows more of anything', async () => {
    const user = await insertUser(billing.service)
    const small = await pay(user, 'price_small')
    const before = billing.provider.checkouts.length
    expect(await user.post('/checkout/', { price_id: 'price_schedules' })).toMatchObject({
      session_id: small,
      price_id: 'price_schedules',
      status: 'active',
      url: null,
    })
    expect(await quotaOf(user)).toBe(1000)
    expect(billing.provider.checkouts).toHaveLength(before)
    expect(billing.provider.calls).toContain(`POST /v1/subscriptions/sub_${small}`)
    await user.post('/checkout/', { price_id: 'price_schedules' }, 409)
    await user.post('/checkout/', { price_id: 'price_small' }, 409)
    // More threads and fewer schedules: both are of use.
    await pay(user, 'price_large')
    expect(billing.provider.checkouts).toHaveLength(before + 1)
    expect(billing.provider.checkout(small).subscription['cancel_at_period_end']).toBe(false)
  })

  it('ends a subscription when a bigger plan is paid once', async () => {
    const user = await insertUser(billing.service)
    const small = await pay(user, 'price_small')
    await pay(user, 'price_once')
    expect(billing.provider.checkout(small).subscription['cancel_at_period_end']).toBe(true)
    expect(await quotaOf(user)).toBe(2000)
  })

  it('opens no checkout while a payment takes days, and leaves one open of several', async () => {
    const debits: Record<string, (id: string) => void> = {
      price_small: (id) => (billing.provider.checkout(id).subscription['status'] = 'incomplete'),
      price_once: (id) => (billing.provider.checkout(id).session['payment_status'] = 'unpaid'),
    }
    for (const [plan, debit] of Object.entries(debits)) {
      const user = await insertUser(billing.service)
      const id = await open(user, plan)
      billing.provider.checkout(id).session['status'] = 'complete'
      debit(id)
      const before = billing.provider.checkouts.length
      for (const other of [plan, 'price_large'])
        expect((await user.call('POST', '/checkout/', { price_id: other })).status, plan).toBe(409)
      expect(billing.provider.checkouts).toHaveLength(before)
    }
    const user = await insertUser(billing.service)
    const opened = await Promise.all(
      ['price_small', 'price_small', 'price_large'].map((price) =>
        user.call('POST', '/checkout/', { price_id: price }),
      ),
    )
    await open(user, 'price_small')
    expect(opened.map(({ status }) => status)).toEqual([200, 200, 200])
    const mine = billing.provider.checkouts.filter(({ params }) => params.get('client_reference_id') === user.userId)
    expect(mine.map(({ session }) => String(session['status'])).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'expired',
      'expired',
      'expired',
      'open',
    ])
  })

  it('pauses the newest schedules beyond a lower plan at once, and lets its owner choose which go on', async () => {
    const user = await insertUser(billing.service)
    const id = await pay(user, 'price_large')
    const { assistant_id } = await user.post('/assistants/', { name: 'A', config: {} })
    const input = [{ type: 'human', content: 'What is new?' }]
    const made: string[] = []
    for (let count = 0; count < 25; count++)
      made.push((await user.post('/schedules/', { assistant_id, input, cron: '0 7 * * *' })).schedule_id)
    await user.call('POST', '/schedules/', { assistant_id, input, cron: '0 7 * * *' })
    expect(await billing.service.collections.schedules.countDocuments({ user_id: user.userId })).toBe(25)
    // The price of the new plan allows fewer.
    const lower = { price: { metadata: { thread_max: '5000', schedule_max: '22' } } }
    billing.provider.checkout(id).subscription['items'] = { data: [lower] }
    await tell('customer.subscription.updated', { id: `sub_${id}` })
    const paused = async () =>
      (await user.get('/schedules/?limit=100')).schedules
        .filter((one: any) => one.paused)
        .map((one: any) => one.schedule_id)
        .toSorted()
    expect(await paused()).toEqual(made.slice(22))
    billing.provider.checkout(id).subscription['status'] = 'canceled'
    await tell('customer.subscription.deleted', { id: `sub_${id}` })
    expect(await paused()).toEqual(made.slice(20))
    const [first, last] = [made[0], made[24]]
    expect(await user.get(`/schedules/${last}`)).toMatchObject({
      pause_reason: expect.stringContaining('the plan of this account changed'),
    })
    await user.patch(`/schedules/${last}`, { paused: false }, 403)
    await user.patch(`/schedules/${first}`, { paused: true })
    expect(await user.patch(`/schedules/${last}`, { paused: false })).toMatchObject({ paused: false })
    const handle = billing.service.temporal.schedule.getHandle(`schedule/${made[23]}`)
    await expect.poll(async () => (await handle.describe()).state.paused, { timeout: 60_000 }).toBe(true)
  })

  it('returns 503 while the provider is unreachable, and leaves no purchase', async () => {
    const user = await insertUser(billing.service)
    billing.provider.away(true)
    const answer = await user.call('POST', '/checkout/', { price_id: 'price_small' })
    billing.provider.away(false)
    expect(answer.status).toBe(503)
    expect(await billing.service.collections.purchases.countDocuments({ user_id: user.userId })).toBe(0)
  })

  it('stores what an event says while a newer look-up is under way that fails', async () => {
    const user = await insertUser(billing.service)
    const id = await open(user, 'price_once')
    const [slow, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const event = { id: `evt_${newId()}` }
    billing.provider.hold(slow.promise)
    const before = billing.provider.calls.length
    billing.provider.checkout(id).session['status'] = 'complete'
    const told = tell('checkout.session.completed', { id }, event)
    await expect.poll(() => billing.provider.calls.length).toBe(before + 1)
    billing.provider.hold(late.promise)
    const looking = user.call('GET', `/checkout/${id}`)
    await expect.poll(() => billing.provider.calls.length).toBe(before + 2)
    slow.resolve()
    expect((await told).status).toBe(200)
    expect(await quotaOf(user)).toBe(2000)
    billing.provider.hold(undefined)
    billing.provider.away(true)
    late.reject(new Error('cut off'))
    expect((await looking).status).toBe(503)
    billing.provider.away(false)
    expect(await billing.service.collections.purchases.findById(id).lean()).toMatchObject({ status: 'active' })
  })

  it('ends a plan with a chargeback of a payment, until the dispute is won', async () => {
    const user = await insertUser(billing.service)
    const id = await pay(user, 'price_once')
    const checkout = billing.provider.checkout(id)
    for (const [type, status, quota] of [
      ['created', 'warning_needs_response', 2000],
      ['updated', 'needs_response', 100],
      ['closed', 'won', 2000],
      ['closed', 'lost', 100],
    ] as const) {
      checkout.dispute = { status }
      expect((await tell(`charge.dispute.${type}`, { id: `dp_${id}` })).status).toBe(200)
      expect(await quotaOf(user), status).toBe(quota)
    }
  })

  it('ends a plan and cancels its subscription with a chargeback, also of an older invoice', async () => {
    const user = await insertUser(billing.service)
    const [id, other] = [await pay(user, 'price_schedules'), await pay(user, 'price_large')]
    const checkout = billing.provider.checkout(other)
    checkout.dispute = { status: 'warning_needs_response' }
    await tell('charge.dispute.created', { id: `dp_${other}` })
    expect(await quotaOf(user)).toBe(5000)
    checkout.dispute = { status: 'needs_response' }
    checkout.subscription['latest_invoice'] = { payments: { data: [] } }
    for (const type of ['updated', 'closed']) {
      expect((await tell(`charge.dispute.${type}`, { id: `dp_${other}` })).status).toBe(200)
      expect(await quotaOf(user)).toBe(1000)
    }
    expect(billing.provider.calls.filter((call) => call === `DELETE /v1/subscriptions/sub_${other}`)).toHaveLength(1)
    expect(billing.provider.calls).not.toContain(`DELETE /v1/subscriptions/sub_${id}`)
  })
})

describe('billing without keys', () => {
  const service = useSharedService()

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
