import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { AnyKey } from '../../../domain/any-key.ts'
import type { Health } from '../../../services/health.ts'
import { ErrorDetail } from '../schemas.ts'

const HealthReport = Type.Object(
  {
    status: Type.Enum(['ok', 'degraded'], { title: 'HealthStatus', about: 'State of all servers together.' }),
    version: Type.String(),
    dependencies: Type.Record(
      AnyKey,
      Type.Object({
        status: Type.Enum(['ok', 'down', 'not_configured'], {
          title: 'DependencyStatus',
          about: 'State of a server behind the service.',
        }),
        detail: Type.Optional(Type.String()),
      }),
    ),
  },
  { title: 'HealthReport', about: 'Whether the servers behind the service answer.' },
)

const Readiness = Type.Object(
  { status: Type.Literal('ready') },
  { title: 'Readiness', about: 'The process can serve requests.' },
)

/**
 * `GET /ok`, which always answers 200 with the state of everything, and `GET /ready`, which says whether to send
 * requests here.
 */
export const healthRoutes: FastifyPluginAsyncTypebox<{ health: Health }> = async (app, { health }) => {
  app.get(
    '/ok',
    {
      config: { auth: 'none', isProbe: true },
      schema: {
        operationId: 'health.read',
        summary: 'State of the service and its dependencies',
        tags: ['health'],
        response: { 200: HealthReport },
      },
    },
    () => health.report(),
  )

  app.get(
    '/ready',
    {
      config: { auth: 'none', isProbe: true },
      schema: {
        operationId: 'health.ready',
        summary: 'Whether requests can be answered now',
        description:
          'Answers 503 while MongoDB, Redis or Temporal does not answer, and names it in `detail`. For load balancers and readiness probes; `GET /ok` shows every dependency.',
        tags: ['health'],
        response: { 200: Readiness, 503: ErrorDetail },
      },
    },
    async (_request, reply) => {
      const unavailableServices = await health.unavailableServices()
      if (unavailableServices.length === 0) return { status: 'ready' as const }
      // Not thrown, because load balancers ask every second and each error would be logged.
      return reply
        .code(503)
        .header('retry-after', '1')
        .send({ detail: `Away: ${unavailableServices.join(', ')}.` })
    },
  )
}
