import type { Stripe } from 'stripe'
import type { PaymentProvider } from '../../services/billing/provider.ts'
import { scanningFetch } from '../outbound/scan-answer.ts'

interface StripeSettings {
  stripeSecretKey: string | undefined
  stripeWebhookSecret: string | undefined
  stripeApiBase: string | undefined
}

const timeoutMs = 10_000
const maxAnswerBytes = 8 * 1024 * 1024

/** Undefined without both keys. The package is loaded when it is first used, because most processes never need it. */
export function createPaymentProvider(settings: StripeSettings): PaymentProvider | undefined {
  const { stripeSecretKey, stripeWebhookSecret, stripeApiBase } = settings
  if (stripeSecretKey === undefined || stripeWebhookSecret === undefined) return undefined
  let loading: Promise<Stripe> | undefined
  return {
    webhookSecret: stripeWebhookSecret,
    stripe: () => (loading ??= load(stripeSecretKey, stripeApiBase)),
  }
}

async function load(key: string, base: string | undefined): Promise<Stripe> {
  const { default: StripeClient } = await import('stripe')
  const scanned = scanningFetch((input, init) => fetch(input, init), { bytes: maxAnswerBytes })
  const httpClient = StripeClient.createFetchHttpClient(scanned)
  return new StripeClient(key, {
    timeout: timeoutMs,
    maxNetworkRetries: 1,
    telemetry: false,
    httpClient,
    ...addressOf(base),
  })
}

function addressOf(base: string | undefined): { host?: string; port?: string; protocol?: 'http' | 'https' } {
  if (base === undefined) return {}
  const { hostname, port, protocol } = new URL(base)
  return {
    host: hostname,
    protocol: protocol === 'http:' ? 'http' : 'https',
    port: port || (protocol === 'http:' ? '80' : '443'),
  }
}
