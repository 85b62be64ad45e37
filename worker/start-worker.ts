import { createActivities } from '../activities/index.ts'
import { connectPlatform } from '../composition/platform.ts'
import { queues } from '../domain/contracts/workflow-contract.ts'
import type { Settings } from '../infra/config.ts'
import { isUnavailable } from '../infra/is-unavailable.ts'
import type { Logger } from '../infra/logger.ts'
import { createMetrics } from '../infra/metrics/create-metrics.ts'
import { startMetricsServer } from '../infra/metrics/metrics-server.ts'
import { observeIngestion } from '../infra/metrics/observe-ingestion.ts'
import { ensureOrphanSchedule } from '../infra/temporal/orphan-schedule.ts'
import { type WorkerClassOf, prepareWorkers, serveQueues } from './serve-queues.ts'

/**
 * Connects, then serves the configured task queues until `close`. `finished` settles when all workers have ended.
 * Tests may choose the class of the workers.
 */
export async function startWorker(
  settings: Settings,
  logger: Logger,
  { workerClass }: { workerClass?: WorkerClassOf } = {},
) {
  const metrics = settings.metricsPort === undefined ? undefined : createMetrics()
  const [prepared, platform] = await Promise.all([
    prepareWorkers(settings, logger, metrics),
    connectPlatform(settings, logger, { metrics }),
  ])
  const { core, infra, runs, deletion, knowledge } = platform
  const { collections } = core
  const activities = createActivities({
    collections,
    mailer: core.mailer,
    secrets: core.derivedSecrets,
    frontendUrl: settings.frontendUrl,
    feedback: { collections, receiver: runs.feedbackReceiver },
    steps: runs.steps,
    suggestions: runs.suggestions,
    deletion: deletion.deletion,
    cleanup: deletion,
    schedules: platform.schedules.activities,
    crawls: { isUnavailable, ...platform.sources.activities },
    documents: { collections, isUnavailable, ...knowledge.ingestion, ...infra.knowledge },
  })
  const measured = metrics ? { ...activities, documents: observeIngestion(activities.documents, metrics) } : activities
  const names = queues.filter((queue) => settings.workerQueues.includes(queue))
  if (names.length === 0) throw new Error(`WORKER_QUEUES names no task queue; known are ${queues.join(', ')}`)
  const [served] = await Promise.all([
    serveQueues({
      settings,
      logger,
      metrics,
      platform,
      prepared,
      workerClass,
      activities: Object.fromEntries(names.map((queue) => [queue, measured[queue]])),
    }),
    ensureOrphanSchedule(infra.temporal.client, settings),
  ])
  const metricsServer = await startMetricsServer(settings, metrics, {
    isHealthy: served.isHealthy,
    ...(served.updateMetrics ? { update: served.updateMetrics } : {}),
  })
  return {
    queues: names,
    finished: served.finished,
    platform,
    metricsPort: metricsServer.port,
    close: async () => {
      await served.stop()
      await metricsServer.close()
      await platform.close()
    },
  }
}
