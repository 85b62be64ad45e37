import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { type TestUser, insertUser } from '../support/users.ts'
import { useBilling } from './support.ts'

describe('an account that is deleted', () => {
  const billing = useBilling()
  const { open, pay, tell } = billing

  const remove = (user: TestUser) => user.call('DELETE', '/auth/delete-user', { email_confirmation: user.email })
  const receiptOf = (user: TestUser) => billing.service.collections.receipts.findOne({ user_id: user.userId }).lean()

  async function expectNothingPaid(user: TestUser, ids: string[], cancelled: number) {
    const { status, body } = await remove(user)
    expect(status).toBe(200)
    for (const id of ids) {
      const { params, session, subscription } = billing.provider.checkout(id)
      const isAlive =
        session['status'] === 'open' ||
        (session['status'] === 'complete' &&
          params.get('mode') === 'subscription' &&
          subscription['status'] !== 'canceled')
      expect(isAlive, id).toBe(false)
    }
    expect(await billing.service.collections.purchases.countDocuments({ user_id: user.userId })).toBe(0)
    const receipt = await receiptOf(user)
    expect(receipt).toMatchObject({
      status: 'complete',
      found: { subscriptions: cancelled },
      left: { subscriptions: 0 },
    })
    expect(receipt?._id).toBe(body.receipt_id)
  }

  const subscription = (id: string) => billing.provider.checkout(id).subscription

  it('pays nothing any more, whatever the state of its purchases', async () => {
    const prepare: Record<string, (user: TestUser) => Promise<{ id: string; cancelled: number }>> = {
      open: async (user) => ({ id: await open(user, 'price_small'), cancelled: 0 }),
      'paid, without the event': async (user) => {
        const id = await open(user, 'price_small')
        billing.provider.checkout(id).session['status'] = 'complete'
        return { id, cancelled: 1 }
      },
      active: async (user) => ({ id: await pay(user, 'price_small'), cancelled: 1 }),
      'paid once': async (user) => ({ id: await pay(user, 'price_once'), cancelled: 0 }),
      'last invoice refunded': async (user) => {
        const id = await pay(user, 'price_small')
        billing.provider.checkout(id).charge['refunded'] = true
        await tell('charge.refunded', { id: `ch_${id}`, payment_intent: `pi_${id}`, customer: `cus_${id}` })
        expect(await user.get(`/checkout/${id}`)).toMatchObject({ status: 'ended' })
        return { id, cancelled: 1 }
      },
      'charged back, without the event': async (user) => {
        const id = await pay(user, 'price_small')
        billing.provider.checkout(id).dispute = { status: 'needs_response' }
        await tell('customer.subscription.updated', { id: `sub_${id}` })
        expect(await user.get(`/checkout/${id}`)).toMatchObject({ status: 'ended' })
        return { id, cancelled: 1 }
      },
      'past due': async (user) => {
        const id = await pay(user, 'price_small')
        subscription(id)['status'] = 'past_due'
        return { id, cancelled: 1 }
      },
      unpaid: async (user) => {
        const id = await pay(user, 'price_small')
        subscription(id)['status'] = 'unpaid'
        await tell('customer.subscription.updated', { id: `sub_${id}` })
        return { id, cancelled: 1 }
      },
      expired: async (user) => {
        const id = await open(user, 'price_small')
        billing.provider.checkout(id).session['status'] = 'expired'
        return { id, cancelled: 0 }
      },
      'cancelled at the end of the period': async (user) => {
        const id = await pay(user, 'price_small')
        subscription(id)['cancel_at_period_end'] = true
        await tell('customer.subscription.updated', { id: `sub_${id}` })
        return { id, cancelled: 1 }
      },
      'cancelled, without the event': async (user) => {
        const id = await pay(user, 'price_small')
        subscription(id)['status'] = 'canceled'
        return { id, cancelled: 0 }
      },
    }
    for (const [state, one] of Object.entries(prepare)) {
      const user = await insertUser(billing.service)
      const { id, cancelled } = await one(user)
      await expectNothingPaid(user, [id], cancelled)
      expect((await tell('checkout.session.completed', { id })).status, state).toBe(200)
    }
  })

  it('has all of its subscriptions cancelled and counted', async () => {
    const [user, bystander] = [await insertUser(billing.service), await insertUser(billing.service)]
    const kept = await pay(bystander, 'price_small')
    const ids = [await open(user, 'price_large'), await pay(user, 'price_schedules'), await pay(user, 'price_large')]
    await expectNothingPaid(user, ids, 2)
    expect(subscription(kept)['status']).toBeUndefined()
  })

  it('is read once more when the provider refuses to close a checkout that was paid meanwhile', async () => {
    const user = await insertUser(billing.service)
    const id = await open(user, 'price_small')
    billing.provider.onCall((called) => {
      if (called.endsWith('/expire')) billing.provider.checkout(id).session['status'] = 'complete'
    })
    try {
      await expectNothingPaid(user, [id], 1)
    } finally {
      billing.provider.onCall(undefined)
    }
  })

  it('counts a subscription that was ended by somebody else at the same moment', async () => {
    const user = await insertUser(billing.service)
    const id = await pay(user, 'price_small')
    billing.provider.onCall((called) => {
      if (called.startsWith('DELETE')) subscription(id)['status'] = 'canceled'
    })
    try {
      await expectNothingPaid(user, [id], 1)
    } finally {
      billing.provider.onCall(undefined)
    }
  })

  it('keeps everything while the provider is away, says so, and is deleted when it is back', async () => {
    const user = await insertUser(billing.service)
    await user.post('/threads/', {})
    const id = await pay(user, 'price_small')
    billing.provider.away(true)
    const removing = remove(user)
    await expect.poll(async () => (await receiptOf(user))?.waiting_for, { timeout: 60_000 }).toBe('payment_provider')
    const { threads, purchases } = billing.service.collections
    expect(await threads.countDocuments({ user_id: user.userId })).toBe(1)
    expect(await purchases.countDocuments({ user_id: user.userId })).toBe(1)
    expect((await user.get(`/receipts/${(await receiptOf(user))?._id}`)).waiting_for).toBe('payment_provider')
    billing.provider.away(false)
    await removing
    await expect.poll(async () => (await receiptOf(user))?.status, { timeout: 60_000 }).toBe('complete')
    expect(subscription(id)['status']).toBe('canceled')
    expect(await receiptOf(user)).toMatchObject({ found: { subscriptions: 1 }, left: { subscriptions: 0 } })
    expect((await receiptOf(user))?.waiting_for).toBeUndefined()
  }, 180_000)
})

describe('an account that is deleted without keys of the provider', () => {
  const service = useStarted(() => startService({ env: { DELETION_WAIT_SECONDS: '1' } }))

  it('waits if it may have a subscription, and not for purchases that have ended', async () => {
    const purchase = (_id: string, userId: string, status: PurchaseRecord['status'], ids = {}) =>
      service.collections.purchases.create({
        _id,
        user_id: userId,
        request_id: newId(),
        price_id: 'price_1',
        thread_max: 1,
        status,
        looks: 0,
        created_at: new Date(),
        updated_at: new Date(),
        ...ids,
      })
    const [payer, former] = [await insertUser(service), await insertUser(service)]
    await purchase('cs_payer', payer.userId, 'ended', { subscription_id: 'sub_1' })
    for (const status of ['expired', 'ended'] as const) await purchase(newId(), former.userId, status)
    const remove = (user: TestUser) => user.call('DELETE', '/auth/delete-user', { email_confirmation: user.email })
    await expect.poll(async () => (await remove(former)).status, { timeout: 30_000 }).not.toBe(202)
    expect((await remove(payer)).status).toBe(202)
    const receipt = () => service.collections.receipts.findOne({ user_id: payer.userId }).lean()
    await expect.poll(async () => (await receipt())?.waiting_for, { timeout: 30_000 }).toBe('payment_provider')
    // The operator has cancelled it in the dashboard and removes the record.
    await service.collections.purchases.deleteOne({ _id: 'cs_payer' })
    await expect.poll(async () => (await receipt())?.status, { timeout: 90_000 }).toBe('complete')
  })
})
