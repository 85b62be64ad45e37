import { connectPlatform } from '../composition/platform.ts'
import { defaultServer } from '../domain/model-catalog.ts'
import type { Settings } from '../infra/config.ts'
import { isUnavailable } from '../infra/is-unavailable.ts'
import type { Logger } from '../infra/logger.ts'
import { createLocalMailbox } from '../infra/mail/local-mailbox.ts'
import { createMetrics } from '../infra/metrics/create-metrics.ts'
import { startMetricsServer } from '../infra/metrics/metrics-server.ts'
import { createModelProbe } from '../infra/model/probe.ts'
import { isOwnConnection } from '../infra/own-connection.ts'
import { createPollerCheck } from '../infra/temporal/describe-queue.ts'
import { createHealth } from '../services/health.ts'
import type { ModelsNow } from '../services/models/live-models.ts'
import { startOwnWorker } from '../worker/own-worker.ts'
import type { WorkerClassOf } from '../worker/serve-queues.ts'
import { buildApp } from './app.ts'
import type { NoteProblem } from './plugins/responses.ts'

const version = '1.0.0'

/** Settings → platform → app → listen. Used by the process entry and by tests. */
export async function startApi(
  settings: Settings & { noteProblem?: NoteProblem },
  logger: Logger,
  { workerClass }: { workerClass?: WorkerClassOf } = {},
) {
  const metrics = settings.metricsPort === undefined ? undefined : createMetrics()
  const platform = await connectPlatform(settings, logger, { metrics })
  const { infra, services } = platform
  const { objects } = infra.knowledge
  const health = createHealth(
    [
      { name: 'mongodb', check: infra.database.ping, isNeeded: true },
      { name: 'redis', check: infra.redis.ping, isNeeded: true },
      { name: 'temporal', check: infra.temporal.ping, isNeeded: true },
      { name: 'workers', check: createPollerCheck(infra.temporal.client, settings) },
      { name: 'mail', check: platform.core.mailer.ping },
      ...modelProbes(platform.core.models, settings),
      ...(objects === undefined ? [] : [{ name: 'objects', check: objects.ping }]),
      { name: 'vectors', check: async () => infra.knowledge.vectors.ping().then(() => infra.knowledge.vectors.name) },
    ],
    version,
  )
  const app = await buildApp({
    settings,
    logger,
    services,
    health,
    tracing: infra.tracing,
    localPage: {
      isOwnConnection,
      mailbox: settings.mailboxUrl === undefined ? undefined : createLocalMailbox(settings.mailboxUrl),
    },
    rateCounter: platform.core.rateCounter,
    isUnavailable,
    metrics,
  })
  let ownWorker: ReturnType<typeof startOwnWorker> | undefined
  const metricsServer = await startMetricsServer(settings, metrics, {
    isHealthy: () => app.server.listening,
    update: () => ownWorker?.updateMetrics(),
  })
  app.addHook('onClose', () => metricsServer.close())
  const address = await app.listen({ port: settings.port, host: settings.host })
  if (settings.runsInApi) ownWorker = startOwnWorker(platform, settings, logger, metrics, workerClass)
  return {
    app,
    address,
    platform,
    infra,
    services,
    metricsPort: metricsServer.port,
    /** Fulfilled when the worker of this process serves runs; undefined when it has none. */
    servesRuns: ownWorker?.ready,
    /** Rejects when the worker of this process fails; never settles without one. */
    finished: ownWorker?.finished ?? new Promise<never>(() => {}),
    close: async () => {
      await app.close()
      await ownWorker?.stop()
      await platform.close()
    },
  }
}

/** The embedding server has a check of its own if it is another one than that of the answers. */
function modelProbes(models: ModelsNow, { embedding }: Settings) {
  const answering = () => ({ ...defaultServer(models.current()), model: models.current().defaultModel })
  const isSeparate = embedding.names.baseUrl === 'EMBEDDING_BASE_URL'
  return [
    { name: 'model', check: createModelProbe(answering) },
    ...(isSeparate ? [{ name: 'embeddings', check: createModelProbe(() => embedding) }] : []),
  ]
}
