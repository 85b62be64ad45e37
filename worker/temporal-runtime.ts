import { type LogLevel, type LogMetadata, MetricsBuffer, Runtime } from '@temporalio/worker'
import { queueName, queues } from '../domain/contracts/workflow-contract.ts'
import type { Settings } from '../infra/config.ts'
import type { Logger } from '../infra/logger.ts'
import type { Metrics } from '../infra/metrics/create-metrics.ts'
import { createTemporalMetrics } from '../infra/metrics/temporal-metrics.ts'

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

const levels = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
} as const satisfies Record<LogLevel, string>

/** Writes Temporal's log lines to our log. Its `info` becomes `debug`, because workers log a lot when they start. */
function temporalLogger(logger: Logger) {
  const log = (level: LogLevel, message: string, meta: LogMetadata = {}) => {
    const { error, ...rest } = meta
    logger[levels[level]]({ ...rest, ...(error === undefined ? {} : { err: error }) }, message)
  }
  return {
    log,
    trace: (message: string, meta?: LogMetadata) => log('TRACE', message, meta),
    debug: (message: string, meta?: LogMetadata) => log('DEBUG', message, meta),
    info: (message: string, meta?: LogMetadata) => log('INFO', message, meta),
    warn: (message: string, meta?: LogMetadata) => log('WARN', message, meta),
    error: (message: string, meta?: LogMetadata) => log('ERROR', message, meta),
  }
}
