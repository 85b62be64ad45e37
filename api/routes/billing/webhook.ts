import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Services } from '../../../composition/platform.ts'
import { AppError } from '../../../domain/errors.ts'
import type { Billing } from '../../../services/billing/index.ts'
import { refusals } from '../schemas.ts'
import { BillingEvent, BillingEventResponse } from './schemas.ts'

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
export const webhookRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'billing'>> = async (app, { billing }) => {
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
