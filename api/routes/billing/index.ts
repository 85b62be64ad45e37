import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { accountBodyBytes } from '../../plugins/body-limits.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { once } from '../../plugins/idempotency.ts'
import { refusals } from '../schemas.ts'
import { Checkout, CheckoutPath, CheckoutRequest, Plan, toCheckout } from './schemas.ts'
import { webhookRoutes } from './webhook.ts'

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
