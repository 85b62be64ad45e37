import { MetricsBuffer, NativeConnection, Runtime } from '@temporalio/worker'
import { createActivities } from '../activities/index.ts'
import { connectPlatform } from '../composition/platform.ts'
import { type Queue, queueName, queues } from '../domain/contracts/queues.ts'
import type { Settings } from '../infra/config.ts'
import type { Logger } from '../infra/logger.ts'
import { isAway } from '../infra/is-away.ts'
import { type Metrics, createMetrics } from '../infra/metrics/create-metrics.ts'
import { startMetricsServer } from '../infra/metrics/metrics-server.ts'
import { observeIngestion } from '../infra/metrics/observe-ingestion.ts'
import { createTemporalMetrics } from '../infra/metrics/temporal-metrics.ts'
import { connectionOptions } from '../infra/temporal/connect.ts'
import { dataConverterFor } from '../infra/temporal/data-converter.ts'
import { ensureOrphanSchedule } from '../infra/temporal/orphan-schedule.ts'
import { createWorker } from './create-worker.ts'
import { serveRuns } from './serve-runs.ts'
import { temporalLogger } from './temporal-logger.ts'
import { workflowBundle } from './workflow-bundle.ts'

/** Connects, then serves the configured task queues until `close`. `finished` settles when all workers ended. Tests may wrap activities. */
export async function startWorker(
  settings: Settings,
  logger: Logger,
  { wrapActivities = (activities: object): object => activities } = {},
) {
  const metrics = settings.metricsPort === undefined ? undefined : createMetrics()
  const buffer = installRuntime(logger, metrics !== undefined)
  const [platform, connection, bundle] = await Promise.all([
    connectPlatform(settings, logger, { metrics }),
    NativeConnection.connect(connectionOptions(settings)),
    workflowBundle(dataConverterFor(settings)),
  ])
  const { core, infra, runs, deletion, knowledge } = platform
  await ensureOrphanSchedule(infra.temporal.client, settings)
  const { collections } = core
  const activities = createActivities({
    collections,
    mailer: core.mailer,
    secrets: core.derivedSecrets,
    frontendUrl: settings.frontendUrl,
    feedback: { collections, receiver: runs.feedbackReceiver },
    engine: runs.engine,
    deletion: deletion.deletion,
    cleanup: deletion,
    documents: { collections, isAway, ...knowledge.ingestion, ...infra.knowledge },
  })
  const measured = metrics ? { ...activities, documents: observeIngestion(activities.documents, metrics) } : activities
  const served = queues.filter((queue) => settings.workerQueues.includes(queue))
  if (served.length === 0) throw new Error(`WORKER_QUEUES names no task queue; known are ${queues.join(', ')}`)
  const workers = await Promise.all(
    served.map((queue) =>
      createWorker({
        settings,
        connection,
        queue,
        activities: wrapActivities(measured[queue]),
        workflowBundle: bundle,
      }),
    ),
  )
  const finished = Promise.all(workers.map((worker) => worker.run()))
  const drain = metrics && buffer ? drainOf(metrics, buffer, settings, activities) : undefined
  const draining = drain && setInterval(drain, drainEveryMs)
  const metricsServer = await startMetricsServer(settings, metrics, {
    isHealthy: () => workers.every((worker) => worker.getState() === 'RUNNING'),
    ...(drain ? { update: drain } : {}),
  })
  const stopServing = served.includes('runs') ? await serveRuns(platform, logger) : async () => {}
  return {
    queues: served,
    finished,
    platform,
    metricsPort: metricsServer.port,
    close: async () => {
      await stopServing()
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
      await finished.catch(() => undefined)
      clearInterval(draining)
      await metricsServer.close()
      await connection.close()
      await platform.close()
    },
  }
}

/** Often enough that the buffer never fills up; a worker makes some fifty updates a run. */
const drainEveryMs = 1000
const bufferedUpdates = 100_000

function drainOf(
  { registry }: Pick<Metrics, 'registry'>,
  buffer: MetricsBuffer,
  { taskQueuePrefix }: Pick<Settings, 'taskQueuePrefix'>,
  activities: Record<Queue, object>,
): () => void {
  const record = createTemporalMetrics(registry, {
    taskQueues: queues.map((queue) => queueName(queue, taskQueuePrefix)),
    activityTypes: Object.values(activities).flatMap((of) => Object.keys(of).filter((name) => name !== 'default')),
  })
  return () => record(buffer.retrieveUpdates())
}

let installed: { buffer: MetricsBuffer | undefined } | undefined

/**
 * Temporal's runtime is one a process; signals stay with the process entry. With `isMeasured` it keeps
 * updates of its metrics in the buffer that is returned, which has to be emptied.
 */
export function installRuntime(logger: Logger, isMeasured = false): MetricsBuffer | undefined {
  if (installed === undefined) {
    const buffer = isMeasured
      ? new MetricsBuffer({ maxBufferSize: bufferedUpdates, useSecondsForDurations: true })
      : undefined
    Runtime.install({
      logger: temporalLogger(logger),
      shutdownSignals: [],
      ...(buffer ? { telemetryOptions: { metrics: { buffer } } } : {}),
    })
    installed = { buffer }
  }
  return installed.buffer
}
