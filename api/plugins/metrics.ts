import type { FastifyInstance, FastifyReply } from 'fastify'

interface Counts<L> {
  inc(labels: L): void
}

interface Times<L> {
  observe(labels: L, seconds: number): void
}

/** What is measured of requests and streams; `infra/metrics` implements it. */
export interface HttpMetrics {
  requests: Counts<{ operation: string; status: string }>
  requestSeconds: Times<{ operation: string }>
  openStreams: { inc(): void; dec(): void }
  firstEventSeconds: Times<{ operation: string }>
  firstDataSeconds: Times<{ operation: string }>
  eventGapSeconds: { observe(seconds: number): void }
}

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Call this when the answer becomes an event stream, and the returned function with the name of each event.
     * Undefined if nothing is measured.
     */
    watchStream: (() => (eventName: string | undefined) => void) | undefined
  }
}

/** Events without text. */
const preludes = new Set<string | undefined>(['start', 'metadata'])

/** Counts requests by operation and status, using the names that routes declare, never a URL. */
export function installMetrics(app: FastifyInstance, metrics: HttpMetrics | undefined): void {
  app.decorateReply('watchStream', undefined)
  if (metrics === undefined) return
  app.addHook('onRequest', async (_request, reply) => {
    reply.watchStream = () => watchStream(reply, metrics)
    // `close` also fires for streams, and when the client disconnects.
    reply.raw.once('close', () => {
      const operation = operationOf(reply)
      metrics.requests.inc({ operation, status: String(reply.raw.statusCode) })
      metrics.requestSeconds.observe({ operation }, reply.elapsedTime / 1000)
    })
  })
}

function watchStream(reply: FastifyReply, metrics: HttpMetrics): (eventName: string | undefined) => void {
  const operation = operationOf(reply)
  let lastAt: number | undefined
  let hasData = false
  if (!reply.raw.closed && !reply.raw.destroyed) {
    metrics.openStreams.inc()
    reply.raw.once('close', () => metrics.openStreams.dec())
  }
  return (eventName) => {
    const now = reply.elapsedTime
    if (lastAt === undefined) metrics.firstEventSeconds.observe({ operation }, now / 1000)
    else metrics.eventGapSeconds.observe((now - lastAt) / 1000)
    lastAt = now
    if (hasData || preludes.has(eventName)) return
    hasData = true
    metrics.firstDataSeconds.observe({ operation }, now / 1000)
  }
}

function operationOf(reply: FastifyReply): string {
  return reply.request.routeOptions.schema?.operationId ?? 'none'
}
