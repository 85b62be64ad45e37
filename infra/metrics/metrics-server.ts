import { createHash, timingSafeEqual } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Settings } from '../config.ts'
import type { Metrics } from './create-metrics.ts'

interface MetricsSources {
  /** Whether the process does its work. */
  isHealthy(): boolean
  /** Updates the registry before it is read. */
  update?(): void
}

const limits = { requestTimeout: 5000, headersTimeout: 5000, maxHeaderSize: 8192, connectionsCheckingInterval: 1000 }
const maxConnections = 50

/**
 * A separate port for operators: `GET /metrics` for Prometheus, and `GET /health`, 200 or 503, for process
 * supervisors. The health check needs no token.
 */
export async function startMetricsServer(
  { metricsPort, metricsHost, metricsToken }: Pick<Settings, 'metricsPort' | 'metricsHost' | 'metricsToken'>,
  metrics: Pick<Metrics, 'registry'> | undefined,
  sources: MetricsSources,
) {
  if (metrics === undefined) return { port: undefined, close: async () => undefined }
  const { registry } = metrics
  const server = createServer(limits, (request, response) => {
    answer({ registry, token: metricsToken, ...sources }, request, response).catch(() =>
      respond(response, 500, 'The metrics cannot be read.'),
    )
  })
  server.maxConnections = maxConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(new Error(`METRICS_PORT cannot be used: ${cause.message}`, { cause })))
    server.listen(metricsPort, metricsHost, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' ? address?.port : undefined,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

type Answering = MetricsSources & { registry: Metrics['registry']; token: string | undefined }

async function answer(options: Answering, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url?.split('?', 1)[0]
  if (request.method !== 'GET') return respond(response, 405, 'Only GET is supported here.', { allow: 'GET' })
  if (path === '/health') {
    return options.isHealthy() ? respond(response, 200, 'ok') : respond(response, 503, 'not working')
  }
  if (path !== '/metrics') return respond(response, 404, 'This port serves /metrics and /health only.')
  if (!isAllowed(options.token, request.headers.authorization))
    return respond(response, 401, 'METRICS_TOKEN is required as a bearer token.', { 'www-authenticate': 'Bearer' })
  options.update?.()
  respond(response, 200, await options.registry.metrics(), { 'content-type': options.registry.contentType })
}

/** Hashes have the same length, so the comparison takes constant time. */
function isAllowed(token: string | undefined, authorization: string | undefined): boolean {
  if (token === undefined) return true
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(`Bearer ${token}`), digest(authorization ?? ''))
}

function respond(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers })
  response.end(text)
}
