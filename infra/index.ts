import { reasonOf } from '../domain/reason-of.ts'
import type { Settings } from './config.ts'
import { createKnowledge } from './knowledge.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics/create-metrics.ts'
import { observeRuns } from './metrics/observe-runs.ts'
import { observeMongo, observeRedis, observeVectors } from './metrics/observe-stores.ts'
import { connectDatabase } from './mongo/connect.ts'
import { createOutbound } from './outbound/create-outbound.ts'
import { connectRedis } from './redis/connect.ts'
import { connectTemporal } from './temporal/connect.ts'
import { createTokenCounter } from './tokens/token-counter.ts'
import { createTracing } from './tracing/create-tracing.ts'

export type Infra = Awaited<ReturnType<typeof connectInfra>>

/**
 * Connects to everything that API and worker share, and measures it if there are `metrics`. `close` ends all
 * connections, also when one was never established.
 */
export async function connectInfra(
  settings: Settings,
  logger: Logger,
  {
    metrics,
    isServed = () => false,
  }: {
    metrics?: Metrics | undefined
    /** Whether a model is among those that the service offers now. */
    isServed?: (model: string) => boolean
  } = {},
) {
  const named = async <T>(name: string, variable: string, connecting: Promise<T>): Promise<T> =>
    connecting.catch((cause: unknown) => {
      throw new Error(`${name} (${variable}) cannot be used: ${reasonOf(cause)}`, { cause })
    })
  const timeoutMs = settings.dependencyTimeoutSeconds * 1000
  const [database, redis, temporal] = await Promise.all([
    named(
      'MongoDB',
      'MONGODB_URI',
      connectDatabase(settings.mongodbUri, {
        tls: settings.mongodbTls,
        timeoutMs,
        onClient: metrics && ((client) => observeMongo(client, metrics)),
      }),
    ),
    named(
      'Redis',
      'REDIS_URL',
      connectRedis(settings.redisUrl, {
        tls: settings.redisTls,
        timeoutMs,
        onError: (error) => logger.warn({ err: error }, 'Redis connection failed'),
      }),
    ),
    named('Temporal', 'TEMPORAL_ADDRESS', connectTemporal(settings)),
  ])
  const outbound = createOutbound(settings)
  const spans = await createTracing(settings)
  const tracing = metrics ? observeRuns(spans, metrics, isServed) : spans
  const stores = createKnowledge(settings, database, outbound.ownFetch, (error) =>
    logger.warn({ err: error }, 'the server for reranking failed'),
  )
  const knowledge = metrics ? { ...stores, vectors: observeVectors(stores.vectors, metrics) } : stores
  const stopObservingRedis = metrics ? observeRedis(metrics) : () => undefined
  const tokenCounter = createTokenCounter()
  return {
    database,
    redis,
    temporal,
    outbound,
    tracing,
    knowledge,
    tokenCounter,
    close: async () => {
      stopObservingRedis()
      await Promise.allSettled([
        database.close(),
        redis.close(),
        temporal.close(),
        outbound.close(),
        knowledge.close(),
        tracing.close(),
        tokenCounter.close(),
      ])
    },
  }
}
