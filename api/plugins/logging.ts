import type { FastifyInstance } from 'fastify'
import { newId } from '../../domain/ids.ts'

/** Accepts a caller's request id when it is harmless in a log, else makes one. */
export function requestIdOf(headers: Record<string, string | string[] | undefined>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{1,128}$/.test(given) ? given : newId()
}

/** One line a request: operation, status, time and user. Never a query or a header, for they may hold secrets. */
export function installLogging(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        operation: request.routeOptions.schema?.operationId,
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        user_id: request.session?.user._id,
      },
      'request',
    )
  })
}
