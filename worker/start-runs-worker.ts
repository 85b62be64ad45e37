import { createRunActivities } from '../activities/runs/index.ts'
import type { Platform } from '../composition/platform.ts'
import type { Settings } from '../infra/config.ts'
import type { Logger } from '../infra/logger.ts'
import type { Metrics } from '../infra/metrics/create-metrics.ts'
import { type WorkerClassOf, prepareWorkers, serveQueues } from './serve-queues.ts'

/**
 * The worker of the queue `runs` in an API process, which waits for a server that is away until it is `stopped`. From
 * then on, the process also starts threads on the worker's connection, so that the server can return the first task of
 * a thread to this worker.
 */
export async function startRunsWorker(
  platform: Platform,
  settings: Settings,
  logger: Logger,
  metrics: Metrics | undefined,
  stopped: AbortSignal,
  workerClass?: WorkerClassOf,
) {
  const prepared = await prepareWorkers(settings, logger, metrics, stopped)
  const activities = { runs: createRunActivities(platform.runs.steps, platform.runs.suggestions) }
  const served = await serveQueues({ settings, logger, metrics, platform, prepared, activities, workerClass })
  platform.infra.temporal.startEagerlyOver(prepared.connection)
  return served
}
