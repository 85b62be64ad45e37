import type { Stripe } from 'stripe'
import { AppError } from '../../domain/errors.ts'

/** The payment provider, when its keys are configured. */
export interface PaymentProvider {
  stripe(): Promise<Stripe>
  webhookSecret: string
}

/** Whether an error of the provider says that the request itself was wrong: the same request will fail again. */
export function isRefused(error: unknown): boolean {
  return error instanceof Error && 'type' in error && error.type === 'StripeInvalidRequestError'
}

/** Whether an error of the provider says that a payment was declined. */
export function isDeclined(error: unknown): boolean {
  return error instanceof Error && 'type' in error && error.type === 'StripeCardError'
}

/** Whether an error of the provider says that there is no such object. */
export function isMissing(error: unknown): boolean {
  return isRefused(error) && error instanceof Error && 'code' in error && error.code === 'resource_missing'
}

/** Runs calls of the provider; a failure of the provider becomes `unavailable`. */
export async function ask<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof AppError || !isProviderError(cause)) throw cause
    throw new AppError('unavailable', 'The payment provider cannot be reached or failed. Try again.', { cause })
  }
}

function isProviderError(error: unknown): boolean {
  return error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe')
}
