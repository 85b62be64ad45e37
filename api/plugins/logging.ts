import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Asked every second by load balancers: answers without an error are logged at the level `debug`. */
    isProbe?: boolean
  }
}

/** Uses a caller's request id if it is harmless in a log, else generates one. */
export function requestIdOf(headers: Record<string, string | string[] | undefined>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{1,128}$/.test(given) ? given : randomUUID()
}

/**
 * One line per request: operation, status, time and user. Never a query or a header, because they may contain
 * secrets.
 */
export function installLogging(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    // `close` also fires for streams, whose end Fastify does not see, and when the client disconnects.
    reply.raw.once('close', () => {
      const level = request.routeOptions.config.isProbe && reply.raw.statusCode < 400 ? 'debug' : 'info'
      const facts = {
        operation: request.routeOptions.schema?.operationId,
        method: request.method,
        route: request.routeOptions.url,
        status: reply.raw.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        user_id: request.session?.user._id,
        ...(reply.raw.writableFinished ? {} : { aborted: true }),
      }
      request.log[level](facts, 'request')
    })
  })
}

/** From here on, the request's log lines name its run and assistant. */
export function logRun(reply: FastifyReply, run: { _id: string; assistant_id: string }): void {
  const log = reply.request.log.child({ run_id: run._id, assistant_id: run.assistant_id })
  reply.request.log = log
  reply.log = log
}
