import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { refusals } from '../schemas.ts'
import { AdminQuery, config, tags } from './declare.ts'
import { Activity, OpenIngestions, QueueStatuses, toIngestion, toQueue } from './operation-schemas.ts'

/** What the operator's page shows about work under way. */
export const adminOperationRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'administration'>> = async (
  app,
  { administration },
) => {
  const querystring = Type.Object(AdminQuery)

  app.get(
    '/admin/activity',
    {
      config,
      schema: {
        operationId: 'admin.activity',
        summary: 'Users, runs, tokens and failures of each of the last days; figures are up to a minute old',
        tags,
        querystring: Type.Object({
          ...AdminQuery,
          days: Type.Integer({ minimum: 1, maximum: 90, default: 30 }),
        }),
        response: { 200: Activity, ...refusals(401, 503) },
      },
    },
    async ({ query }) => ({ days: await administration.activity(query.days) }),
  )

  app.get(
    '/admin/queues',
    {
      config,
      schema: {
        operationId: 'admin.queues',
        summary: 'The backlog and the number of workers of each task queue',
        tags,
        querystring,
        response: { 200: QueueStatuses, ...refusals(401, 503) },
      },
    },
    async () => ({ queues: (await administration.queues()).map(toQueue) }),
  )

  app.get(
    '/admin/ingestions',
    {
      config,
      schema: {
        operationId: 'admin.ingestions',
        summary: 'Ingestions under way; those without progress for the longest time come first',
        tags,
        querystring,
        response: { 200: OpenIngestions, ...refusals(401, 503) },
      },
    },
    async () => ({ ingestions: (await administration.ingestions()).map(toIngestion) }),
  )
}
