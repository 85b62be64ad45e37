import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AppError } from '../../../domain/errors.ts'
import type { Billing } from '../../../services/billing/index.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { once } from '../../plugins/idempotency.ts'
import { accountBodyBytes } from '../../plugins/request-bodies.ts'
import { refusals } from '../schemas.ts'
import {
  BillingEvent,
  BillingEventResponse,
  Checkout,
  CheckoutPath,
  CheckoutRequest,
  Plan,
  toCheckout,
} from './schemas.ts'

const config = { auth: 'user' } as const
const tags = ['billing']

/** `/price` and `/checkout`: plans that raise the thread quota. */
export const billingRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'billing'>> = async (app, { billing }) => {
  await app.register(webhookRoutes, { billing })

  app.get(
    '/price/',
    {
      config,
      schema: {
        operationId: 'billing.plans',
        summary: 'The plans that can be bought, cheapest first; none while billing is not configured',
        tags,
        response: { 200: Type.Array(Plan), ...refusals(401, 503) },
      },
    },
    () => billing.plans.list(),
  )

  app.post(
    '/checkout/',
    {
      config: { ...config, limits: ['checkout_user'], idempotent: true, audit: 'successes' },
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'billing.checkout.create',
        summary: 'Open a checkout for a plan; the answer names the page where it is paid',
        tags,
        body: CheckoutRequest,
        response: { 200: Checkout, ...refusals(400, 401, 403, 409, 503) },
      },
    },
    async (request) => {
      const { user } = sessionOf(request)
      return toCheckout(
        await once(request, {
          create: (id) => billing.open(user, request.body.price_id, id),
          find: (id) => billing.opened(user._id, id),
        }),
      )
    },
  )

  app.get(
    '/checkout/:session_id',
    {
      config: { ...config, limits: ['checkout_reads_user'] },
      schema: {
        operationId: 'billing.checkout.read',
        summary: 'Whether a checkout is paid, and whether its plan is active',
        tags,
        params: CheckoutPath,
        response: { 200: Checkout, ...refusals(401, 404, 503) },
      },
    },
    async (request) => toCheckout(await billing.read(sessionOf(request).user._id, request.params.session_id)),
  )
}

type VerifiedEvent = Awaited<ReturnType<Billing['webhook']['verify']>>

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the signature of the body is valid. */
    billingEvent: VerifiedEvent | null
  }
}

/** Larger than any event of the payment provider. */
const eventBytes = 512 * 1024

/** The signature covers the bytes of the body, so it is checked before they are parsed. */
const webhookRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'billing'>> = async (app, { billing }) => {
  app.decorateRequest('billingEvent', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    /^application\/json(?:;.*)?$/i,
    { parseAs: 'buffer', bodyLimit: eventBytes },
    async (request: FastifyRequest, raw: Buffer) => {
      const signature = request.headers['stripe-signature']
      request.billingEvent = await billing.webhook.verify(raw, typeof signature === 'string' ? signature : undefined)
      return request.billingEvent
    },
  )

  app.post(
    '/checkout/webhook',
    {
      config: { auth: 'none' },
      bodyLimit: eventBytes,
      schema: {
        operationId: 'billing.webhook',
        summary: 'Receive an event of the payment provider, signed in the header Stripe-Signature',
        tags: ['billing'],
        body: BillingEvent,
        response: { 200: BillingEventResponse, ...refusals(400, 503) },
      },
    },
    async ({ billingEvent }) => {
      if (billingEvent === null) throw new AppError('bad_request', 'An event is required.')
      await billing.webhook.handle(billingEvent)
      return { received: true }
    },
  )
}
