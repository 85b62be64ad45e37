import { MetricsBuffer, Runtime } from '@temporalio/worker'
import { queueName, queues } from '../domain/contracts/queues.ts'
import type { Settings } from '../infra/config.ts'
import type { Logger } from '../infra/logger.ts'
import type { Metrics } from '../infra/metrics/create-metrics.ts'
import { createTemporalMetrics } from '../infra/metrics/temporal-metrics.ts'
import { temporalLogger } from './temporal-logger.ts'

/** Often enough that the buffer never fills up; a worker makes some fifty updates a run. */
const drainEveryMs = 1000
const bufferedUpdates = 100_000

let installed: { buffer: MetricsBuffer | undefined } | undefined

/**
 * Installs Temporal's runtime, once per process; the process entry handles signals. With `isMeasured`, it puts
 * updates of its metrics into the returned buffer, which must be emptied.
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

/** Moves the runtime's metrics into the registry, every second and with each `update`, until `stop`. */
export function recordRuntimeMetrics(
  { registry }: Pick<Metrics, 'registry'>,
  buffer: MetricsBuffer,
  { taskQueuePrefix }: Pick<Settings, 'taskQueuePrefix'>,
  activities: object[],
) {
  const record = createTemporalMetrics(registry, {
    taskQueues: queues.map((queue) => queueName(queue, taskQueuePrefix)),
    activityTypes: activities.flatMap((of) => Object.keys(of).filter((name) => name !== 'default')),
  })
  const update = () => record(buffer.retrieveUpdates())
  const timer = setInterval(update, drainEveryMs)
  return { update, stop: () => clearInterval(timer) }
}
