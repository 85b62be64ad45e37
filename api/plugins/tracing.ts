import type { FastifyInstance } from 'fastify'
import type { RequestSpan, Tracing } from '../../services/tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    span: RequestSpan | undefined
  }
}

/** A span for each request. Handlers run within it, so that what they start belongs to the same trace. */
export function installTracing(app: FastifyInstance, tracing: Pick<Tracing, 'request'>): void {
  app.decorateRequest('span', undefined)
  app.addHook('onRequest', async (request, reply) => {
    const given = request.headers['traceparent']
    const span = tracing.request(typeof given === 'string' ? given : undefined)
    if (span === undefined) return
    request.span = span
    const log = request.log.child({ trace_id: span.traceId })
    request.log = log
    reply.log = log
    // `close` also fires for interrupted streams.
    reply.raw.once('close', () =>
      span.end({
        method: request.method,
        route: request.routeOptions.url,
        operation: request.routeOptions.schema?.operationId,
        status: reply.raw.statusCode,
      }),
    )
  })
  // Here and not earlier, because reading the body loses the context in which it was started.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span === undefined) done()
    else request.span.within(done)
  })
}
