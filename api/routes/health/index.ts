import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Health } from '../../../services/health.ts'

const HealthReport = Type.Object(
  {
    status: Type.Enum(['ok', 'degraded'], { title: 'HealthStatus' }),
    version: Type.String(),
    dependencies: Type.Record(
      Type.String(),
      Type.Object({
        status: Type.Enum(['ok', 'down', 'not_configured'], { title: 'DependencyStatus' }),
        detail: Type.Optional(Type.String()),
      }),
    ),
  },
  { title: 'HealthReport' },
)

/** `GET /ok` */
export const healthRoutes: FastifyPluginAsyncTypebox<{ health: Health }> = async (app, { health }) => {
  app.get(
    '/ok',
    {
      config: { auth: 'none' },
      schema: {
        operationId: 'health.read',
        summary: 'State of the service and of what it depends on',
        tags: ['health'],
        response: { 200: HealthReport },
      },
    },
    () => health.report(),
  )
}
