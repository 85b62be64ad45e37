import { tmpdir } from 'node:os'
import path from 'node:path'
import { isJsonObject } from '../../domain/json.ts'
import { installInCache } from '../../local/services/cache.ts'
import { goInstall } from '../../local/services/go-install.ts'
import { freePort } from '../../local/services/ports.ts'
import { startServerProcess } from '../../local/services/server-process.ts'
import { readText, sendJson, startHttpServer } from './http-server.ts'

const version = '0.203.0'
const stripeMock = {
  module: 'github.com/stripe/stripe-mock',
  version,
  sum: 'h1:EzW7nb/fphqcAkgVRHAaC88OaAZo6SBWSl54cflDTio=',
  folder: '.',
}
/** The first run builds it. */
export const buildTimeoutMs = 300_000

type JsonObject = Record<string, unknown>

interface Checkout {
  id: string
  params: URLSearchParams
  /** Members of the session, of its subscription and of its payment that the test has set. */
  session: JsonObject
  subscription: JsonObject
  charge: JsonObject
  /** The dispute about its payment, if there is one. */
  dispute?: JsonObject
}

export interface Price {
  id: string
  metadata: Record<string, string>
  unit_amount?: number
  recurring?: { interval: string; interval_count: number } | null
  product?: JsonObject
}

export type TestPaymentProvider = Awaited<ReturnType<typeof startPaymentProvider>>

/**
 * Stripe's API: stripe-mock checks every request against Stripe's own description and answers an example of the right
 * shape. It remembers nothing, so what this test server knows is put into its answers.
 */
export async function startPaymentProvider(prices: Price[]) {
  const mock = await startStripeMock()
  const checkouts: Checkout[] = []
  const byKey = new Map<string, Checkout>()
  const calls: string[] = []
  let held: Promise<void> | undefined
  let isUnavailable = false
  let before: ((called: string) => void) | undefined

  const server = await startHttpServer(async (request, response) => {
    if (isUnavailable) return void response.destroy()
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const body = await readText(request)
    const called = `${request.method} ${url.pathname}`
    calls.push(called)
    const until = held
    const answer = await fetch(`${mock.url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { authorization: 'Bearer sk_test_1', 'content-type': 'application/x-www-form-urlencoded' },
      ...(body === '' ? {} : { body }),
    })
    const example: unknown = await answer.json()
    if (!answer.ok || !isJsonObject(example)) return sendJson(response, answer.status, example)
    const key = String(request.headers['idempotency-key'] ?? '')
    before?.(called)
    const shown = show(called, example, new URLSearchParams(body || url.search), key)
    try {
      await until
    } catch {
      return void response.destroy()
    }
    if (shown === 'refused') return sendJson(response, 400, refused)
    sendJson(response, shown === undefined ? 404 : 200, shown ?? missing)
  })

  /** Undefined for an object that does not exist. */
  function show(
    called: string,
    example: JsonObject,
    params: URLSearchParams,
    key: string,
  ): JsonObject | 'refused' | undefined {
    const [, last = '', verb = ''] = /\/([^/]+)(?:\/(expire))?$/.exec(called) ?? []
    if (called === 'GET /v1/prices') {
      const [first] = Array.isArray(example['data']) ? example['data'] : []
      return { ...example, data: prices.map((price) => merged(isJsonObject(first) ? first : {}, { ...price })) }
    }
    if (called === 'POST /v1/checkout/sessions') {
      const known = byKey.get(key)
      if (known) return sessionOf(known, example)
      const id = `cs_test_${checkouts.length + 1}`
      const checkout: Checkout = { id, params, session: { status: 'open' }, subscription: {}, charge: {} }
      checkouts.push(checkout)
      byKey.set(key, checkout)
      return sessionOf(checkout, example)
    }
    if (called.includes('/v1/checkout/sessions/')) {
      const checkout = checkouts.find(({ id }) => id === last)
      if (checkout === undefined) return undefined
      if (verb === 'expire') {
        if (checkout.session['status'] !== 'open') return 'refused'
        checkout.session['status'] = 'expired'
      }
      return sessionOf(checkout, example)
    }
    const named = (prefix: string, id: string | null) => checkouts.find((one) => id === `${prefix}_${one.id}`)
    if (called.includes('/v1/subscriptions/')) {
      const checkout = named('sub', last)
      if (checkout === undefined) return undefined
      if (called.startsWith('DELETE')) {
        if (checkout.subscription['status'] === 'canceled') return undefined
        checkout.subscription['status'] = 'canceled'
      }
      if (called.startsWith('POST')) {
        const price = params.get('items[0][price]')
        if (price !== null) checkout.params.set('line_items[0][price]', price)
        const ends = params.get('cancel_at_period_end')
        if (ends !== null) checkout.subscription['cancel_at_period_end'] = ends === 'true'
      }
      return { ...example, ...subscriptionOf(checkout) }
    }
    if (called.startsWith('GET /v1/disputes/')) {
      const checkout = named('dp', last)
      return checkout && { ...example, ...disputeOf(checkout) }
    }
    if (called === 'GET /v1/disputes') {
      const checkout = named('ch', params.get('charge'))
      return { ...example, data: checkout?.dispute ? [disputeOf(checkout)] : [] }
    }
    if (called === 'GET /v1/invoice_payments') {
      const checkout = named('pi', params.get('payment[payment_intent]'))
      const isInvoice = checkout?.params.get('mode') === 'subscription'
      const details = { type: 'subscription_details', subscription_details: { subscription: `sub_${checkout?.id}` } }
      return { ...example, data: isInvoice ? [{ invoice: { id: 'in_1', object: 'invoice', parent: details } }] : [] }
    }
    return called.startsWith('GET /v1/payment_intents/') ? paymentOf(named('pi', last), example) : example
  }

  const disputeOf = ({ id, dispute }: Checkout) => ({
    id: `dp_${id}`,
    object: 'dispute',
    charge: `ch_${id}`,
    payment_intent: `pi_${id}`,
    ...dispute,
  })

  function subscriptionOf({ id, params, subscription }: Checkout): JsonObject {
    const price = prices.find((one) => one.id === params.get('line_items[0][price]'))
    return {
      id: `sub_${id}`,
      object: 'subscription',
      status: 'active',
      cancel_at_period_end: false,
      items: { data: [{ id: `si_${id}`, price }] },
      latest_invoice: { payments: { data: [{ payment: { payment_intent: `pi_${id}` } }] } },
      ...subscription,
    }
  }

  function sessionOf(checkout: Checkout, example: JsonObject): JsonObject {
    const { id, params, session } = checkout
    const isPaid = session['status'] === 'complete'
    const isSubscription = params.get('mode') === 'subscription'
    return {
      ...example,
      id,
      client_reference_id: params.get('client_reference_id'),
      mode: params.get('mode'),
      payment_status: isPaid ? 'paid' : 'unpaid',
      url: isPaid ? null : `https://pay.example.com/${id}`,
      customer: isSubscription && isPaid ? `cus_${id}` : null,
      subscription: isSubscription && isPaid ? subscriptionOf(checkout) : null,
      payment_intent: !isSubscription && isPaid ? paymentOf(checkout, {}) : null,
      ...session,
    }
  }

  const paymentOf = (checkout: Checkout | undefined, example: JsonObject) => ({
    ...example,
    id: `pi_${checkout?.id}`,
    latest_charge: {
      id: `ch_${checkout?.id}`,
      object: 'charge',
      refunded: false,
      disputed: checkout?.dispute !== undefined,
      ...checkout?.charge,
    },
  })

  return {
    url: server.url,
    calls,
    checkouts,
    checkout(id: string): Checkout {
      const found = checkouts.find((one) => one.id === id)
      if (found === undefined) throw new Error(`no checkout ${id}`)
      return found
    },
    /**
     * Answers to requests that arrive from now on are held back until the promise is fulfilled; if it fails, they are
     * cut off.
     */
    hold(until: Promise<void> | undefined): void {
      held = until
    },
    /** Called when a request has arrived, before it is answered. */
    onCall(listener: typeof before): void {
      before = listener
    },
    /** Connections are cut. */
    away: (away: boolean) => (isUnavailable = away),
    close: async () => {
      await server.close()
      await mock.stop()
    },
  }
}

const refused = { error: { type: 'invalid_request_error', message: 'This object is not in a state for that' } }
const missing = { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such object' } }

function merged(example: JsonObject, changes: JsonObject): JsonObject {
  const product = { ...(isJsonObject(example['product']) ? example['product'] : {}) }
  return {
    ...example,
    ...changes,
    product: { ...product, ...(isJsonObject(changes['product']) ? changes['product'] : {}) },
  }
}

async function startStripeMock() {
  const folder = await installInCache(`stripe-mock-${version}`, console.log, async (target) => {
    await goInstall(stripeMock, target, console.log)
  })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const process_ = await startServerProcess({
    name: 'stripe-mock',
    command: path.join(folder, 'stripe-mock'),
    // Without an address for HTTPS it would take a fixed port of all addresses, once on a machine.
    args: ['-http-addr', `127.0.0.1:${port}`, '-https-addr', '127.0.0.1:0'],
    cwd: tmpdir(),
    logFile: path.join(tmpdir(), `stripe-mock-${port}.log`),
    ready: () =>
      fetch(`${url}/v1/prices`, { headers: { authorization: 'Bearer sk_test_1' } }).then(
        ({ ok }) => ok,
        () => false,
      ),
  })
  return { url, stop: process_.stop }
}
