import { createPaymentProvider } from '../infra/billing/stripe.ts'
import { createBilling } from '../services/billing/index.ts'
import type { Core } from './core.ts'

/** Plans that users buy at the payment provider. */
export function composeBilling({ settings, collections, transaction }: Core) {
  return createBilling({ collections, transaction, provider: createPaymentProvider(settings), settings })
}
